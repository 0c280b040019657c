import { chmodSync, readFileSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { renderFooter } from '../src/view/footer.js'
import { InputHistory } from '../src/view/input-history.js'
import { lineEnd, Pastes } from '../src/view/pastes.js'
import { type Footer, Terminal } from '../src/view/terminal.js'
import { folderWith } from './support/folder.js'

describe('a paste', () => {
  test('is part of the line, and said as it was', () => {
    const pastes = new Pastes()
    const shown = pastes.add('one\r\n\ttwo\u0007\n')
    expect(shown).toBe(`one${lineEnd}\ttwo${lineEnd}`)
    expect(pastes.decode(`see: ${shown}`)).toBe('see: one\n\ttwo')
  })

  test('that is long stands by its size, and is said whole; what is only typed so is not', () => {
    const pastes = new Pastes()
    const text = Array.from({ length: 200 }, (_, at) => `line ${at}`).join('\n')
    expect(pastes.add(text)).toBe('[pasted 200 lines]')
    expect(pastes.add(text)).toBe('[pasted 200 lines]')
    expect(pastes.add(text.replace('line 7', 'line x'))).toBe('[pasted 200 lines #2]')
    expect(pastes.add('x'.repeat(5000))).toBe('[pasted 5000 characters]')
    expect(pastes.decode('a [pasted 200 lines] b [pasted 9 lines]')).toBe(`a ${text} b [pasted 9 lines]`)
    expect(pastes.decode('[pasted 200 lines #2]')).toContain('line x')
  })
})

describe('the history', () => {
  const open = (folder: string, complaints: string[] = []) =>
    InputHistory.open('ana', (reason) => complaints.push(reason), folder)

  test('is kept for its owner alone, the newest first, without secrets and what begins with a space', () => {
    const folder = folderWith()
    const history = open(folder)
    const secret = `my key is sk-ant-api03-${'a1B2'.repeat(24)}`
    for (const line of ['one', 'two\nlines', 'two\nlines', ' private', secret, 'x'.repeat(20_000)])
      history.add(line)
    expect(open(folder).lines).toEqual(['two\nlines', 'one'])
    expect(statSync(join(folder, 'history/ana')).mode & 0o777).toBe(0o600)
    expect(statSync(join(folder, 'history')).mode & 0o777).toBe(0o700)
  })

  test('is not read from a file that others may write or read, or that is none', () => {
    for (const spoil of [
      (file: string) => chmodSync(file, 0o644),
      (file: string, folder: string) => symlinkSync(join(folder, 'other'), file),
    ]) {
      const isLink = spoil.length === 2
      const folder = folderWith({ other: '"secret"\n', ...(!isLink && { 'history/ana': '"one"\n' }) })
      if (isLink) open(folder)
      spoil(join(folder, 'history/ana'), folder)
      const complaints: string[] = []
      expect(open(folder, complaints).lines).toEqual([])
      expect(complaints).toEqual([expect.stringContaining('for you alone')])
    }
  })

  test('leaves out what was cut, and keeps the latest thousand', () => {
    const lines = Array.from({ length: 2500 }, (_, at) => `"line ${at}"\n`).join('')
    const folder = folderWith({ 'history/ana': `${lines}"half a li` })
    const history = open(folder)
    expect([history.lines.length, history.lines[0]]).toEqual([1000, 'line 2499'])
    expect(readFileSync(join(folder, 'history/ana'), 'utf8').split('\n')).toHaveLength(1001)
  })

  test('is not kept where there is no space', () => {
    const history = open(join(folderWith(), 'nowhere'))
    history.add('one')
    expect(history.lines).toEqual([])
  })
})

describe('a line of several rows', () => {
  const parts = {
    ...{ heading: 'ana', answers: () => [], thinkers: [], tools: [], showsThoughts: true },
    ...{ pending: undefined, notices: [] },
  }
  const layout = { columns: 20, rows: 24, now: 0, dim: (text: string) => text }
  const draw = (before: string, behind = '', rows = 24) => {
    const typed = {
      text: `${before}${behind}`.replaceAll('|', lineEnd),
      before: before.replaceAll('|', lineEnd),
    }
    const { lines, ...cursor } = renderFooter({ ...parts, typed }, { ...layout, rows })
    return [lines.slice(1), cursor]
  }

  test('grows, with the cursor in its row', () => {
    expect(draw('one|tw', 'o|three')).toEqual([['> one', '  two', '  three'], { cursor: 4, below: 1 }])
    expect(draw('one|', '')).toEqual([['> one', '  '], { cursor: 2, below: 0 }])
    expect(draw('', 'one|two')).toEqual([['> one', '  two'], { cursor: 2, below: 1 }])
  })

  test('shows the rows around the cursor where it is long, and each around the cursor where it is wide', () => {
    expect(draw('a|b|c|d|e|f|g|h')).toEqual([
      ['… c', '  d', '  e', '  f', '  g', '  h'],
      { cursor: 3, below: 0 },
    ])
    const [lines, cursor] = draw(`${'x'.repeat(50)}|${'y'.repeat(50)}`)
    expect([lines, cursor]).toEqual([
      [`> ${'x'.repeat(16)}…`, `  …${'y'.repeat(16)}`],
      { cursor: 19, below: 0 },
    ])
    expect(draw('a|b|c', '', 3)).toEqual([['… c'], { cursor: 3, below: 0 }])
  })

  test('is erased from its last row, wherever the cursor stands', () => {
    let [written, footer]: [string, Footer] = ['', { lines: ['rule', '> a', '  b'], cursor: 3, below: 1 }]
    const output = {
      write(text: string) {
        written += text
      },
      on: () => {},
      off: () => {},
      columns: 20,
      rows: 10,
    }
    const terminal = new Terminal(output as never, () => footer)
    terminal.flush(true)
    expect(written).toContain('rule\n> a\n  b\u001B[J\r\u001B[A\u001B[3C')
    written = ''
    footer = { lines: ['rule', '> a'], cursor: 3, below: 0 }
    terminal.flush()
    expect(written).toContain('\r\u001B[1B\u001B[2K\u001B[A\u001B[2K\u001B[A\u001B[2K')
    terminal.close()
  })
})
