// SPDX-License-Identifier: Apache-2.0
// Boxes that scroll sideways can be reached by the keyboard; boxes that show everything are no stop of the tab key.
function markScrollers() {
    for (const box of document.querySelectorAll("pre, .table-wrapper, article p:has(> img)")) {
        if (box.scrollWidth > box.clientWidth) {
            box.tabIndex = 0;
        } else {
            box.removeAttribute("tabindex");
        }
    }
}
addEventListener("load", markScrollers);
addEventListener("resize", markScrollers);
