// SPDX-License-Identifier: Apache-2.0
// The invariants of the virtual interrupt controllers while no core is inside the hypervisor, in one place:
// fuzz targets check them after every step, unit tests where they need to.
#pragma once

#include <span>
#include <string>

struct domain;

namespace bulkhead_test {

// Empty, or the first broken one of:
//  - an interrupt is resident if and only if exactly one list register of its domain holds it: a private one
//    of its VCPU, a shared one of the VCPU that owns it;
//  - a list register that is pending or active was written for the interrupt that is in it, and is among
//    those that exist; a VCPU that is off has none;
//  - an interrupt that is held is active in the physical controller, and what is active there is held, in a
//    list register, or the hypervisor's own: no deactivation is forgotten or done twice;
//  - a resident interrupt is neither held nor active beside it, unless its core has been told to check again;
//  - an SPI is enabled in the physical controller only while its running domain has it enabled, and a timer's
//    interrupt only as its VCPU has it;
//  - on GICv2 a software-generated interrupt is pending if and only if it has senders, of its domain. If more
//    wait than the one in its list register, its end causes an exit, or its core is about to check again;
//  - no interrupt that its VCPU should get waits while the list registers there have none that is pending,
//    unless the core is about to check again;
//  - all locks are free, and the physical controller was never misused (fake_gic_violations()).
// `domains` are all there are; `cores` run from 0 without a gap.
std::string broken_vgic_invariant(std::span<struct domain *const> domains, unsigned cores);

} // namespace bulkhead_test
