/* oxlint-disable -- the types of these packages are installed only when pictures are drawn */
/** Draws one dashboard with the components of Grafana. `main.ts` puts the data and the uid into the page. */
import 'uplot/dist/uPlot.min.css';
import {
  applyFieldOverrides,
  createTheme,
  dateTime,
  FieldConfigOptionsRegistry,
  FieldType,
  getDisplayValueAlignmentFactors,
  getFieldDisplayValues,
  toDataFrame,
} from '@grafana/data';
import { BigValue, GlobalStyles, PanelChrome, ThemeContext, TimeSeries } from '@grafana/ui';
import React from 'react';
import { createRoot } from 'react-dom/client';

const { start, end, step, boards } = window.DATA;
const theme = createTheme({ colors: { mode: 'dark' } });
const timeRange = { from: dateTime(start * 1000), to: dateTime(end * 1000), raw: {} };
const as = (text) => text;
/** Of Grafana: the height of a row of its grid, and the space between panels. */
const ROW_PX = 30;
const GAP_PX = 8;
const PADDING_PX = 16;
const MARK = 'rgb(51, 162, 229)';

/** The fields of a panel that the components read, with the defaults of Grafana's graph panel. */
const fields = new FieldConfigOptionsRegistry(() => [
  ...['unit', 'min', 'max', 'decimals', 'displayName', 'noValue', 'color', 'thresholds'].map(
    (path) => field(path, false),
  ),
  ...Object.entries({
    drawStyle: 'line',
    lineInterpolation: 'linear',
    lineWidth: 1,
    fillOpacity: 0,
    gradientMode: 'none',
    showPoints: 'auto',
    spanNulls: false,
    axisPlacement: 'auto',
    axisSoftMin: undefined,
    axisSoftMax: undefined,
    stacking: { mode: 'none', group: 'A' },
    scaleDistribution: { type: 'linear' },
    thresholdsStyle: { mode: 'off' },
    hideFrom: { legend: false, tooltip: false, viz: false },
  }).map(([path, defaultValue]) => field(path, true, defaultValue)),
]);

function field(path, isCustom, defaultValue) {
  const id = isCustom ? `custom.${path}` : path;
  const value = { process: as, override: null, editor: null, shouldApply: () => true };
  return { ...value, id, path, name: path, isCustom, defaultValue, settings: {} };
}

function framesOf({ panel, answers }) {
  const frames = answers.flatMap(({ legend, result }) =>
    result.map(({ metric, values }) => {
      const found = new Map(values.map(([at, value]) => [at, Number(value)]));
      const times = [];
      for (let at = start; at <= end; at += step) times.push(at);
      const name = legend.replace(/\{\{\s*(\w+)\s*\}\}/g, (_text, label) => metric[label] ?? '');
      return toDataFrame({
        fields: [
          { name: 'Time', type: FieldType.time, values: times.map((at) => at * 1000), config: {} },
          {
            name: 'Value',
            type: FieldType.number,
            labels: metric,
            config: { displayNameFromDS: name.trim() || 'none' },
            values: times.map((at) => (Number.isNaN(found.get(at) ?? NaN) ? null : found.get(at))),
          },
        ],
      });
    }),
  );
  return applyFieldOverrides({
    data: frames,
    fieldConfig: panel.fieldConfig,
    fieldConfigRegistry: fields,
    replaceVariables: as,
    theme,
    timeZone: 'utc',
  });
}

/** The vertical lines where an annotation begins. */
function Marks({ builder, annotations }) {
  builder.addHook('draw', ({ ctx, bbox, valToPos }) => {
    ctx.save();
    for (const { result } of annotations) {
      for (const { values } of result) {
        const x = valToPos(values[0][0] * 1000, 'x', true);
        ctx.strokeStyle = MARK;
        ctx.setLineDash([4, 4]);
        ctx.beginPath();
        ctx.moveTo(x, bbox.top);
        ctx.lineTo(x, bbox.top + bbox.height);
        ctx.stroke();
      }
    }
    ctx.restore();
  });
  return null;
}

function Content({ one, width, height, annotations }) {
  const { panel } = one;
  const frames = framesOf(one);
  if (frames.length === 0) {
    return <Note height={height}>{panel.fieldConfig.defaults.noValue ?? 'No data'}</Note>;
  }
  if (panel.type === 'stat') {
    const { reduceOptions, graphMode, colorMode } = panel.options;
    const values = getFieldDisplayValues({
      fieldConfig: panel.fieldConfig,
      reduceOptions,
      replaceVariables: as,
      theme,
      data: frames,
      sparkline: graphMode !== 'none',
      timeZone: 'utc',
    });
    return (
      <div style={{ display: 'flex' }}>
        {values.map(({ display, sparkline }) => (
          <BigValue
            key={display.title}
            value={display}
            sparkline={sparkline}
            count={values.length}
            alignmentFactors={getDisplayValueAlignmentFactors(values)}
            colorMode={colorMode}
            graphMode={graphMode}
            justifyMode="auto"
            textMode={values.length > 1 ? 'value_and_name' : 'auto'}
            width={width / values.length}
            height={height}
            theme={theme}
          />
        ))}
      </div>
    );
  }
  if (panel.type !== 'timeseries') return <Note height={height}>{panel.type}: not drawn</Note>;
  return (
    <TimeSeries
      frames={frames}
      timeRange={timeRange}
      timeZone="utc"
      width={width}
      height={height}
      legend={panel.options.legend}
      theme={theme}
    >
      {(builder) => <Marks builder={builder} annotations={annotations} />}
    </TimeSeries>
  );
}

function Note({ height, children }) {
  const color = theme.colors.text.secondary;
  return <div style={{ height, display: 'grid', placeItems: 'center', color }}>{children}</div>;
}

function Bar({ board }) {
  const border = `1px solid ${theme.colors.border.medium}`;
  const shown = board.variables.filter(({ hide, type }) => hide !== 2 && type !== 'datasource');
  return (
    <div style={{ display: 'flex', gap: 12, alignItems: 'center', height: 48, fontSize: 12 }}>
      <b style={{ fontSize: 18 }}>{board.title}</b>
      {shown.map(({ name, label, allValue, chosen }) => (
        <span key={name} style={{ border, padding: '5px 8px' }}>
          {label}: {allValue === undefined ? chosen : 'All'}
        </span>
      ))}
      {board.annotations.map(({ name }) => (
        <span key={name}>
          <span style={{ color: MARK }}>●</span> {name}
        </span>
      ))}
      <span style={{ marginLeft: 'auto', color: theme.colors.text.link }}>
        {board.links.map(({ title }) => title).join('   ')}
      </span>
    </div>
  );
}

function Board({ board }) {
  const columnPx = (window.innerWidth - 2 * PADDING_PX) / 24;
  const bottom = Math.max(...board.panels.map(({ panel: { gridPos } }) => gridPos.y + gridPos.h));
  return (
    <div style={{ padding: `0 ${PADDING_PX}px`, background: theme.colors.background.canvas }}>
      <Bar board={board} />
      <div id="panels" style={{ position: 'relative', height: bottom * (ROW_PX + GAP_PX) }}>
        {board.panels.map((one) => {
          const { id, title, type, gridPos } = one.panel;
          const place = {
            position: 'absolute',
            left: gridPos.x * columnPx,
            top: gridPos.y * (ROW_PX + GAP_PX),
            width: gridPos.w * columnPx - GAP_PX,
            height: gridPos.h * (ROW_PX + GAP_PX) - GAP_PX,
          };
          if (type === 'row') {
            return (
              <div key={id} style={{ ...place, fontSize: 15, paddingTop: 6 }}>
                ⌄ {title}
              </div>
            );
          }
          return (
            <div key={id} style={place}>
              <PanelChrome title={title} width={place.width} height={place.height}>
                {(width, height) => (
                  <Content
                    one={one}
                    width={width}
                    height={height}
                    annotations={board.annotations}
                  />
                )}
              </PanelChrome>
            </div>
          );
        })}
      </div>
    </div>
  );
}

createRoot(document.getElementById('root')).render(
  <ThemeContext.Provider value={theme}>
    <GlobalStyles />
    <Board board={boards.find(({ uid }) => uid === window.BOARD)} />
  </ThemeContext.Provider>,
);
