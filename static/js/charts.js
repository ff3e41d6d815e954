/* Draws the charts of a page with Plotly, in the colours of the present theme. */

"use strict";

{
  const CONFIG = { displayModeBar: false, responsive: true, scrollZoom: false, doubleClick: false };

  /* Replace every `var(--name)` of a figure by what it stands for at this place of the page. */
  const coloured = (value, style) => {
    if (typeof value === "string") {
      return value.replace(/var\((--[\w-]+)\)/g, (_, name) => style.getPropertyValue(name).trim());
    }
    if (Array.isArray(value)) return value.map((item) => coloured(item, style));
    if (value && typeof value === "object") {
      return Object.fromEntries(
        Object.entries(value).map(([key, item]) => [key, coloured(item, style)]),
      );
    }
    return value;
  };

  const draw = (canvas) => {
    const figure = coloured(JSON.parse(canvas.dataset.figure), getComputedStyle(canvas));
    window.Plotly.react(canvas, figure.data, figure.layout, CONFIG).then(() => {
      canvas.dataset.drawn = "";
    });
  };

  const canvases = (from) => from.querySelectorAll(".chart-canvas");
  const drawAll = () => canvases(document).forEach(draw);

  drawAll();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
  new MutationObserver(drawAll).observe(document.documentElement, {
    attributeFilter: ["data-theme"],
  });
  document.addEventListener("htmx:beforeSwap", (event) => {
    canvases(event.detail.target).forEach((canvas) => window.Plotly.purge(canvas));
  });
  document.addEventListener("htmx:afterSettle", drawAll);
}
