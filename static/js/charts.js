/* Draws the charts of a page with Plotly, in the colours of the present theme. */

"use strict";

{
  const CONFIG = { displayModeBar: false, responsive: true, scrollZoom: false, doubleClick: false };

  /* A figure names its colours; here each name becomes what it stands for at this place. */
  const coloured = (figure, style) =>
    JSON.parse(figure.replace(/var\((--[\w-]+)\)/g, (_, name) =>
      JSON.stringify(style.getPropertyValue(name).trim()).slice(1, -1)));

  const draw = (canvas) => {
    const { data, layout } = coloured(canvas.dataset.figure, getComputedStyle(canvas));
    window.Plotly.react(canvas, data, layout, { ...CONFIG, ...layout.meta }).then(() => {
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
