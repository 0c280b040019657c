import { PassThrough } from 'node:stream'
import { expect, onTestFinished, test, vi } from 'vitest'
import { liveSurface } from '../src/view/surface.js'

/** Opens the surface of `join` on a terminal in memory. */
function openSurface() {
  const input = Object.assign(new PassThrough(), { setRawMode: () => input })
  const stdin = vi.spyOn(process, 'stdin', 'get').mockReturnValue(input as never)
  let drawn = ''
  const stdout = vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    drawn += text
    return true
  })
  const surface = liveSurface({
    parts: () => ({
      ...{ heading: 'ana', answers: () => [], thinkers: [], tools: [], showsThoughts: true },
      pending: undefined,
    }),
    ...{ dim: (text: string) => text, echoes: true, completer: undefined },
    keys: { 'ctrl+c': () => false },
  })
  onTestFinished(() => {
    surface.close()
    for (const each of [stdin, stdout]) each.mockRestore()
  })
  const lines: string[] = []
  surface.lines?.on('line', (line) => lines.push(surface.read(line)))
  return {
    surface,
    lines,
    /** Presses keys. Returns everything that the surface draws in reaction to them. */
    async press(keys: string): Promise<string> {
      drawn = ''
      input.write(keys)
      await new Promise((resolve) => setImmediate(resolve))
      return drawn
    },
  }
}

test('lines typed before it was open are entered, and the last one stays for further editing', async () => {
  const { lines, surface, press } = openSurface()
  await press('Can we deploy?\nWhy?\nAnd th')
  expect(lines).toEqual(['Can we deploy?', 'Why?'])
  await press('en\r')
  expect(lines).toEqual(['Can we deploy?', 'Why?', 'And then'])
  expect(surface.typedSince).toBeUndefined()
})

test('Ctrl+J begins another row, in the first line too', async () => {
  const { lines, press } = openSurface()
  await press('one\ntwo\r')
  expect(lines).toEqual(['one\ntwo'])
})

test('a message that is typed while choices are offered is not lost', async () => {
  const { lines, surface, press } = openSurface()
  const chosen = surface.choose('which?', ['this', 'that'])
  expect(await press('3')).toContain('which? Esc: none · press 1 or 2')
  await press('What are the 2 of them?\r')
  expect(await chosen).toBeUndefined()
  expect(lines).toEqual(['What are the 2 of them?'])
})

test('nor is one that is pasted', async () => {
  const { lines, surface, press } = openSurface()
  const chosen = surface.choose('which?', ['this', 'that', 'those'])
  expect(await press('\r')).toContain('press 1 to 3')
  await press('\u001B[200~2 of them\u001B[201~')
  expect(await chosen).toBeUndefined()
  await press('\r')
  expect(lines).toEqual(['2 of them'])
})

test('a choice is made by its number', async () => {
  const { lines, surface, press } = openSurface()
  const chosen = surface.choose('which?', ['this', 'that'])
  await press('2')
  expect(await chosen).toBe(1)
  expect(lines).toEqual([])
})

test('a choice ends when what it offers is gone', async () => {
  const { surface, press } = openSurface()
  const over = new AbortController()
  const chosen = surface.choose('which?', ['this', 'that'], over.signal)
  over.abort()
  expect(await chosen).toBeUndefined()
  const later = surface.choose('and which of these?', ['one'])
  over.abort()
  await press('1')
  expect(await later).toBe(0)
})

test('the offer to leave ends with the next line that is typed', async () => {
  const exit = vi.spyOn(process, 'exit').mockImplementation(() => undefined as never)
  onTestFinished(() => exit.mockRestore())
  const { press } = openSurface()
  expect(await press('\u0003')).toContain('Ctrl+C again leaves')
  expect(await press('h')).not.toContain('Ctrl+C again leaves')
  await press('i\r')
  expect(await press('\u0003')).toContain('Ctrl+C again leaves')
  expect(exit).not.toHaveBeenCalled()
})
