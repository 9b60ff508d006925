(() => {
  "use strict";
  const data = JSON.parse(document.getElementById("chart-data").textContent);
  const { words } = data;
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const DASH = [null, [8, 4], [2, 3], [8, 3, 2, 3]];
  const isFew = (x) => x.length <= 60;
  const plots = new Map();

  const integers = [];
  for (let power = 1; power <= 1e9; power *= 10) integers.push(power, 2 * power, 5 * power);

  const short = (value) => {
    if (value == null) return "–";
    const size = Math.abs(value);
    if (size !== 0 && (size < 1e-3 || size >= 1e6)) return value.toExponential(3);
    return String(Number(value.toPrecision(7)));
  };
  const tick = (value) => {
    if (value == null) return "";
    const size = Math.abs(value);
    if (size !== 0 && (size < 1e-3 || size >= 1e5)) return value.toExponential(0).replace("+", "");
    return String(Number(value.toPrecision(6)));
  };

  const across = (axis) => ({
    stroke: () => colour("--muted"), grid: { show: false }, ticks: { show: false }, size: 28, label: axis, labelSize: 18, labelGap: 0, labelFont: "12px system-ui, sans-serif", font: "12px system-ui, sans-serif",
    incrs: integers, values: (_, ticks) => ticks.map((value) => (Number.isInteger(value) ? value.toLocaleString("en") : "")),
  });
  const valueAxis = (more) => ({
    stroke: () => colour("--muted"), grid: { stroke: () => colour("--grid"), width: 1 }, ticks: { show: false },
    size: 62, labelSize: 18, labelGap: 0, labelFont: "12px system-ui, sans-serif", font: "12px system-ui, sans-serif", values: (_, ticks) => ticks.map(tick), ...more,
  });

  // Run 1 is a broad line, the others thin ones on it: equal curves are both seen.
  const curve = (series, value, few) => ({
    label: series.label,
    stroke: () => colour(`--run-${series.colour}`) + (series.run === 1 ? "99" : ""),
    width: series.run === 1 ? 4 : 1.75,
    dash: DASH[series.dash] || undefined,
    class: series.dash ? `dash-${series.dash}` : undefined,
    points: { show: few, size: series.run === 1 ? 9 : 5, fill: () => colour(`--run-${series.colour}`), stroke: () => colour(`--run-${series.colour}`) },
    value: (_, shown) => value(shown),
  });

  const marks = (plot) => {
    const { ctx, bbox } = plot;
    const scale = devicePixelRatio;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    if (data.firstDivergence != null) {
      const x = Math.round(plot.valToPos(data.firstDivergence, "x", true)) + 0.5;
      ctx.strokeStyle = ctx.fillStyle = colour("--mark");
      ctx.lineWidth = 1.5 * scale;
      ctx.setLineDash([2 * scale, 3 * scale]);
      ctx.beginPath();
      ctx.moveTo(x, bbox.top);
      ctx.lineTo(x, bbox.top + bbox.height);
      ctx.stroke();
      ctx.font = `${12 * scale}px system-ui, sans-serif`;
      const number = data.firstDivergence.toLocaleString("en"), gap = 6 * scale;
      const [place, first] = [words.place, words.first].map((text) => text.replace("#", number));
      const room = { right: bbox.left + bbox.width - x - gap, left: x - gap - bbox.left };
      const fits = (text) => ctx.measureText(text).width < Math.max(room.left, room.right);
      const text = fits(first) ? first : place;
      const left = ctx.measureText(text).width > room.right;
      ctx.textAlign = left ? "right" : "left";
      ctx.fillText(text, x + (left ? -gap : gap), bbox.top + 12 * scale);
    }
    ctx.setLineDash([]);
    ctx.lineWidth = 2 * scale;
    for (const [iteration, run] of data.notFinite) {
      const x = plot.valToPos(iteration, "x", true);
      const y = bbox.top + (26 + 10 * ((run - 1) % 4)) * scale;
      const r = 3.5 * scale;
      ctx.strokeStyle = colour(`--run-${((run - 1) % 6) + 1}`);
      ctx.beginPath();
      ctx.moveTo(x - r, y - r); ctx.lineTo(x + r, y + r);
      ctx.moveTo(x - r, y + r); ctx.lineTo(x + r, y - r);
      ctx.stroke();
    }
    ctx.restore();
  };

  const extent = (lists) => {
    let low = Infinity, high = -Infinity;
    for (const list of lists) for (const value of list) if (value != null) { low = Math.min(low, value); high = Math.max(high, value); }
    return low <= high ? [low, high] : null;
  };
  // The whole of a chart, with a little room on both sides.
  const whole = (x) => {
    const first = x[0], last = x[x.length - 1], room = Math.max(0.02 * (last - first), 0.15);
    return [first - room, last + room];
  };
  const clamped = (value, [low, high]) => Math.min(high, Math.max(low, value));

  // What the buttons of a chart make of the stretch that it shows. The first divergence keeps its place, where it is seen.
  const ZOOMS = {
    in: (shown, all) => scaled(shown, all, 0.5),
    out: (shown, all) => scaled(shown, all, 2),
    back: (shown, all) => moved(shown, all, -0.5),
    on: (shown, all) => moved(shown, all, 0.5),
    all: (_, all) => all,
  };
  const scaled = ([low, high], all, factor) => {
    const seen = data.firstDivergence;
    const fixed = seen != null && seen >= low && seen <= high ? seen : (low + high) / 2;
    const ends = [low, high].map((end) => clamped(fixed + (end - fixed) * factor, all));
    return ends[1] - ends[0] < 1e-9 * (all[1] - all[0]) ? [low, high] : ends;
  };
  const moved = ([low, high], all, share) => {
    const wanted = (high - low) * share;
    const step = share < 0 ? Math.max(wanted, all[0] - low) : Math.min(wanted, all[1] - high);
    return [low + step, high + step];
  };

  const draw = (id, axis, x, columns, options, together = id) => {
    const box = document.getElementById(id);
    if (!box || !x.length) return;
    const live = box.querySelector(".chart-live"), tools = box.querySelector(".tools"), said = tools.querySelector("output");
    const width = () => Math.max(240, box.clientWidth);
    const all = whole(x);
    const stretch = (plot) => [plot.scales.x.min, plot.scales.x.max];
    live.hidden = tools.hidden = false;
    // Charts of the same iterations are looked at together, however the stretch was chosen.
    const follow = (plot, scale) => {
      if (scale !== "x") return;
      const [min, max] = stretch(plot);
      const inside = x.filter((one) => one >= min && one <= max);
      said.textContent = inside.length ? `${axis} ${inside[0].toLocaleString("en")} – ${inside[inside.length - 1].toLocaleString("en")}` : "";
      for (const other of plots.values()) {
        const [low, high] = stretch(other.plot);
        if (other.together === together && other.plot !== plot && (low !== min || high !== max)) other.plot.setScale("x", { min, max });
      }
    };
    const plot = new uPlot({
      width: width(), height: 320, padding: [12, 12, 0, 0],
      legend: { markers: { width: 0, fill: (self, index) => self.series[index].stroke(self, index) } },
      cursor: { points: { size: 7 }, drag: { x: true, y: false } },
      ...options,
      hooks: { setScale: [follow], ...options.hooks },
      scales: { x: { time: false, range: (_, low, high) => (low <= x[0] && high >= x[x.length - 1] ? all : [low, high]) }, ...options.scales },
    }, [x, ...columns], live);
    box.classList.add("live");
    plots.set(id, { plot, together });
    tools.onclick = ({ target }) => {
      const zoom = ZOOMS[target.dataset.zoom];
      if (!zoom) return;
      const [min, max] = zoom(stretch(plot), all);
      plot.setScale("x", { min, max });
    };
    const observer = new ResizeObserver(() => { if (box.clientWidth && plot.width !== width()) plot.setSize({ width: width(), height: 320 }); });
    observer.observe(box);
    plot.hooks.destroy = [() => observer.disconnect()];
  };
  const place = (axis) => ({ label: axis, value: (_, x) => (x == null ? "–" : x.toLocaleString("en")) });
  // The values that are seen, with a little room above and below.
  const around = (columns) => {
    const all = extent(columns);
    const pad = all ? Math.max((all[1] - all[0]) * 0.06, Math.abs(all[1]) * 1e-6, 1e-12) : 1;
    return { range: (_, low, high) => (low == null ? [0, 1] : [Math.min(low, high) - pad, Math.max(low, high) + pad]) };
  };

  const losses = () => {
    const { series, bands, log } = data.loss;
    const columns = [], list = [place(words.iteration)], fills = [], few = isFew(data.x);
    const positive = log ? extent(series.map((one) => one.values)) : null;
    const raise = (values) => (positive ? values.map((value) => (value == null ? null : Math.max(value, positive[0] / 3))) : values);
    for (const band of bands) {
      columns.push(raise(band.high), raise(band.low));
      list.push({ label: "high", class: "unlisted", width: 0, points: { show: false } }, { label: "low", class: "unlisted", width: 0, points: { show: false } });
      fills.push({ series: [columns.length - 1, columns.length], fill: () => colour("--run-1") + "26" });
    }
    for (const one of series) { columns.push(one.values); list.push(curve(one, short, few)); }
    const y = log ? { distr: 3 } : around(columns);
    const options = { series: list, bands: fills, scales: { y }, axes: [across(words.iteration), valueAxis({ label: words.loss })], hooks: { draw: [marks] } };
    draw("loss-chart", words.iteration, data.x, columns, options, "losses");
  };

  const differences = () => {
    const { series, allowed, floor } = data.difference;
    const columns = [], list = [place(words.iteration)], few = isFew(data.x);
    const value = (shown) => (shown === floor ? "0" : short(shown));
    allowed.forEach((values, index) => {
      columns.push(values);
      list.push({ label: words.allowed, class: index ? "unlisted" : "dash-1", stroke: () => colour("--limit"), width: 2, dash: [7, 4], points: { show: false }, value: (_, shown) => value(shown) });
    });
    for (const one of series) { columns.push(one.values); list.push({ ...curve(one, value, few), width: 1.75 }); }
    const all = extent(columns) || [floor, 1];
    const lowest = Math.round(Math.log10(floor)), top = Math.ceil(Math.log10(all[1]) + 0.2);
    const step = Math.max(1, Math.ceil((top - lowest) / 7));
    const ticks = [floor];
    for (let power = lowest + step; power <= top; power += step) ticks.push(Number(`1e${power}`));
    draw("difference-chart", words.iteration, data.x, columns, {
      series: list,
      hooks: { draw: [marks] },
      scales: { y: { distr: 3, range: () => [floor / 2, Number(`1e${top}`)] } },
      axes: [across(words.iteration), valueAxis({ label: words.difference, splits: () => ticks, filter: (_, splits) => splits, values: (_, splits) => splits.map((one) => (one === floor ? "0" : one >= 0.1 && one <= 10 ? String(one) : one.toExponential(0).replace("+", ""))) })],
    }, "losses");
  };

  const reported = ({ id, name, axis, x, series }) => {
    const columns = series.map((one) => one.values);
    const list = [place(axis), ...series.map((one) => curve(one, short, isFew(x)))];
    draw(id, axis, x, columns, { series: list, scales: { y: around(columns) }, axes: [across(axis), valueAxis({ label: name })] });
  };

  const all = () => { losses(); differences(); data.reported.forEach(reported); };
  all();
  if (plots.size) for (const note of document.querySelectorAll(".live-only")) note.hidden = false;
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    for (const { plot } of plots.values()) plot.destroy();
    plots.clear();
    all();
  });
})();

// What a link leads to is unfolded.
(() => {
  "use strict";
  const unfold = () => {
    const found = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
    const folded = found && (found.querySelector(":scope > details") || found.closest("details"));
    if (folded) folded.open = true;
  };
  addEventListener("hashchange", unfold);
  unfold();
})();

