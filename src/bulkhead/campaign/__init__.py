# SPDX-License-Identifier: Apache-2.0
"""Campaigns: many points that do not depend on each other, run here or at the workers of a cluster.

points.py takes jobs and returns their results in order, and keeps them by content; engine.py runs tasks with
joblib, in processes of this machine (loky) or on a Dask cluster; archive.py packs what a cluster's workers
need; worker.py is what they do; serve.py is the process in which a point runs. docs/guide/cluster.md has
the contract and what a campaign costs.
"""
