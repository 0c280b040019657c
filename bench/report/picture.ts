import type { CellFigures } from '../cases/measure.js'

const [left, top, right] = [120, 60, 40]
const [barHeight, groupGap, width] = [12, 14, 900]
/** Ratios at the left and the right end of the axis. */
const [least, maximum] = [0.1, 200]
const colours: Readonly<Record<string, string>> = {
  a: '#9aa0a6',
  b: '#5f6368',
  c: '#c58af9',
  d: '#f9ab00',
  e: '#e8710a',
  sqlite: '#1a73e8',
  power: '#12b5cb',
  memory: '#34a853',
}

const xOf = (ratio: number): number => {
  const part = Math.log(Math.max(ratio, least) / least) / Math.log(maximum / least)
  return left + part * (width - left - right)
}

/**
 * Draws the deliveries per second as ratios to the simplest relay, contender (a), on a logarithmic scale: a group of bars for
 * each number of receivers and senders.
 */
export function draw(all: readonly CellFigures[]): string {
  const cells = all.filter(({ cell: { size, window } }) => size === 300 && window === 256)
  const legend = cells[0]?.figures ?? []
  const parts: string[] = []
  let y = top + 20 * Math.ceil(legend.length / 4)
  const begin = y
  for (const { cell, figures } of cells) {
    parts.push(
      text(left - 10, y + (figures.length * barHeight) / 2 + 4, `${cell.receivers} × ${cell.senders}`, 'end'),
    )
    for (const { key, ratio } of figures) {
      if (ratio === undefined) continue
      const end = xOf(ratio)
      parts.push(rect(left, y, end - left, barHeight - 2, colours[key] ?? '#000'))
      parts.push(text(end + 4, y + barHeight - 3, ratio.toFixed(2), 'start', 9))
      y += barHeight
    }
    y += groupGap
  }
  const axis = [0.1, 1, 10, 100].flatMap((ratio) => [
    `<line x1="${xOf(ratio)}" y1="${begin - 6}" x2="${xOf(ratio)}" y2="${y}" stroke="#ccc"/>`,
    text(xOf(ratio), y + 14, `${ratio} ×`, 'middle'),
  ])
  const names = legend.flatMap(({ key, name }, i) => {
    const [x, at] = [left + (i % 4) * 190, 40 + 18 * Math.floor(i / 4)]
    return [rect(x, at, 10, 10, colours[key] ?? '#000'), text(x + 14, at + 9, name, 'start')]
  })
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${y + 30}" font-family="sans-serif" role="img">`,
    '<title>Deliveries of the gateway and of others</title>',
    `<rect width="${width}" height="${y + 30}" fill="#fff"/>`,
    text(left, 22, 'Deliveries to receivers × senders, 300 B, window 256: ratios to (a)', 'start', 14),
    ...names,
    ...axis,
    ...parts,
    '</svg>\n',
  ].join('\n')
}

const round = (value: number): string => value.toFixed(1)

const rect = (x: number, y: number, across: number, down: number, fill: string): string =>
  `<rect x="${round(x)}" y="${round(y)}" width="${round(across)}" height="${down}" fill="${fill}"/>`

const text = (x: number, y: number, content: string, anchor: 'start' | 'middle' | 'end', size = 11): string =>
  `<text x="${round(x)}" y="${round(y)}" font-size="${size}" text-anchor="${anchor}">${escaped(content)}</text>`

const escaped = (content: string): string => content.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
