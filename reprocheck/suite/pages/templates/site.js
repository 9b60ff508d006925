// The rows of the table: those that fit what is searched, the state and the tag.
(() => {
  "use strict";
  const form = document.querySelector(".finder");
  if (!form) return;
  const rows = [...document.querySelectorAll(".targets tbody tr")];
  const texts = rows.map((row) => row.textContent.toLowerCase());
  const of = (id) => document.getElementById(id);
  const inputs = ["search", "state", "tag"].filter(of);
  const asked = () => Object.fromEntries(inputs.map((id) => [id, of(id).value]));

  const fits = (row, text, { search, state, tag = "" }) => {
    const words = search.toLowerCase().split(/\s+/);
    if (!words.every((word) => text.includes(word))) return false;
    if (tag && !(row.dataset.tags || "").split(" ").includes(tag)) return false;
    return !state || (state === "failed" ? "failed" in row.dataset : row.dataset.state === state);
  };
  const show = () => {
    const now = asked();
    let shown = 0;
    rows.forEach((row, place) => {
      const fit = fits(row, texts[place], now);
      row.hidden = !fit;
      shown += fit;
    });
    of("found").textContent = shown === rows.length ? "" : `${shown.toLocaleString("en")} of ${rows.length.toLocaleString("en")}`;
  };
  // What is asked stands in the address, so that a reader can come back to it and pass it on.
  const keep = () => {
    const found = new URLSearchParams(Object.entries(asked()).filter(([, value]) => value)).toString();
    history.replaceState(null, "", found ? `#?${found}` : location.pathname + location.search);
  };
  const recall = () => {
    if (!location.hash.startsWith("#?")) return;
    for (const [id, value] of new URLSearchParams(location.hash.slice(2))) if (inputs.includes(id)) of(id).value = value;
  };

  form.hidden = false;
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", () => { show(); keep(); });
  recall();
  show();
})();

// The curves of the nights, live: what uPlot draws in place of the SVG.
(() => {
  "use strict";
  const source = document.getElementById("chart-data");
  if (!source || typeof uPlot === "undefined") return;
  const charts = JSON.parse(source.textContent);
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const role = (line) => (line.colour ? `--run-${line.colour}` : "--limit");
  const plots = [];
  const tick = (value) => {
    if (value == null) return "";
    const size = Math.abs(value);
    if (size !== 0 && (size < 1e-3 || size >= 1e5)) return Number(value.toPrecision(3)).toExponential().replace("+", "");
    return String(Number(value.toPrecision(6)));
  };
  const font = "12px system-ui, sans-serif";
  const axis = (more) => ({ stroke: () => colour("--muted"), ticks: { show: false }, font, ...more });

  // The baseline is a broad line below the others, and the newest night lies on top.
  const order = (lines) => [...lines].sort((a, b) => (a.colour === 0 ? -1 : b.colour === 0 ? 1 : b.colour - a.colour));
  const series = (line, few) => ({
    label: line.label,
    stroke: () => colour(role(line)) + (line.colour ? "" : "55"),
    width: line.colour ? (line.colour === 1 ? 2.5 : 2) : 7,
    points: { show: few && line.colour !== 0, size: 5, fill: () => colour(role(line)) },
    value: (_, shown) => (shown == null ? "–" : String(shown)),
  });

  const draw = (box, chart) => {
    const lines = order(chart.lines), live = box.querySelector(".chart-live"), few = chart.x.length <= 60;
    if (!lines.some((line) => line.values.some((value) => value != null))) return;
    const width = () => Math.max(240, box.clientWidth);
    live.hidden = false;
    const pad = Math.max((chart.x[chart.x.length - 1] - chart.x[0]) * 0.02, 0.15);
    const plot = new uPlot({
      width: width(), height: 290, padding: [12, 12, 0, 0],
      legend: { markers: { width: 0, fill: (self, index) => self.series[index].stroke(self, index) } },
      cursor: { drag: { x: true, y: false } },
      series: [{ label: chart.axis, value: (_, x) => (x == null ? "–" : x.toLocaleString("en")) }, ...lines.map((line) => series(line, few))],
      scales: {
        x: { time: false, range: (_, low, high) => (low <= chart.x[0] && high >= chart.x[chart.x.length - 1] ? [chart.x[0] - pad, chart.x[chart.x.length - 1] + pad] : [low, high]) },
        y: chart.log ? { distr: 3 } : {},
      },
      axes: [
        axis({ grid: { show: false }, size: 28, label: chart.axis, labelSize: 18, labelGap: 0, labelFont: font, values: (_, ticks) => ticks.map((value) => (Number.isInteger(value) ? value.toLocaleString("en") : "")) }),
        axis({ grid: { stroke: () => colour("--grid"), width: 1 }, size: 74, values: (_, ticks) => ticks.map(tick) }),
      ],
    }, [chart.x, ...lines.map((line) => line.values)], live);
    box.classList.add("live");
    const observer = new ResizeObserver(() => { if (box.clientWidth && plot.width !== width()) plot.setSize({ width: width(), height: 290 }); });
    observer.observe(box);
    plot.hooks.destroy = [() => observer.disconnect()];
    plots.push(plot);
  };
  const all = () => { for (const box of document.querySelectorAll("[data-chart]")) draw(box, charts[Number(box.dataset.chart)]); };
  all();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    for (const plot of plots.splice(0)) plot.destroy();
    all();
  });
})();
