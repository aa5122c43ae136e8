// SPDX-License-Identifier: Apache-2.0
// Labels of a page's pictures (SVG) whose contrast with what is drawn below them is under 4.5, as sentences.
() => {
    const LEAST = 4.5; // WCAG 2.2, AA
    const parts = (css) => {
        const numbers = (css.match(/[\d.]+/g) ?? []).map(Number);
        return numbers.length < 3 ? [0, 0, 0, 0] : [numbers[0], numbers[1], numbers[2], numbers[3] ?? 1];
    };
    const mix = (top, alpha, below) => below.map((part, index) => top[index] * alpha + part * (1 - alpha));
    const linear = (part) => (part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4);
    const luminance = (color) => 0.2126 * linear(color[0]) + 0.7152 * linear(color[1]) + 0.0722 * linear(color[2]);
    const contrast = (one, other) => {
        const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
        return (high + 0.05) / (low + 0.05);
    };
    const opacity = (element) => {
        let product = 1;
        for (let one = element; one.localName !== "svg"; one = one.parentElement) {
            product *= Number(getComputedStyle(one).opacity);
        }
        return product;
    };
    const pageColor = (element) => {
        for (let one = element.parentElement; one; one = one.parentElement) {
            const color = parts(getComputedStyle(one).backgroundColor);
            if (color[3] > 0) return color.slice(0, 3);
        }
        return [255, 255, 255];
    };
    // The pixel of a raster image, which may be drawn upside down, at a place on the screen.
    const pixel = (image, x, y) => {
        const place = new DOMPoint(x, y).matrixTransform(image.getScreenCTM().inverse());
        const [width, height] = [image.width.baseVal.value, image.height.baseVal.value];
        const canvas = document.createElement("canvas");
        [canvas.width, canvas.height] = [width, height];
        const context = canvas.getContext("2d");
        context.drawImage(image, 0, 0, width, height);
        const left = place.x - image.x.baseVal.value;
        const [red, green, blue, alpha] = context.getImageData(left, place.y - image.y.baseVal.value, 1, 1).data;
        return [red, green, blue, alpha / 255];
    };
    const wrong = [];
    for (const svg of document.querySelectorAll("svg[role=img]")) {
        const drawn = [...svg.querySelectorAll("path, rect, image, use")].filter((one) => !one.closest("defs"));
        for (const text of svg.querySelectorAll("text")) {
            const box = text.getBoundingClientRect();
            const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
            let below = pageColor(svg);
            for (const shape of drawn) {
                const place = shape.getBoundingClientRect();
                const after = shape.compareDocumentPosition(text) & Node.DOCUMENT_POSITION_FOLLOWING;
                const inside = place.left < x && x < place.right && place.top < y && y < place.bottom;
                if (!after || !inside) continue;
                const style = getComputedStyle(shape);
                const fill = shape.localName === "image" ? pixel(shape, x, y) : parts(style.fill);
                below = mix(fill, fill[3] * Number(style.fillOpacity) * opacity(shape), below);
            }
            const color = parts(getComputedStyle(text).fill);
            const found = contrast(mix(color, color[3] * opacity(text), below), below);
            if (found < LEAST) {
                const name = svg.getAttribute("aria-label");
                wrong.push(`label of '${name}': contrast ${found.toFixed(1)}: ${text.textContent.trim()}`);
            }
        }
    }
    return wrong;
}
