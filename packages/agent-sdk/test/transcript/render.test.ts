import { openTranscript, renderDiff, renderFull, renderLog } from '@meup/agent-sdk/transcript'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { verifies } from '../../../../test/verifies.js'
import { scripted } from './scripted-client.js'

async function conversation() {
  const usage = { prompt_tokens: 9, completion_tokens: 40 }
  const toolCalls = [{ id: 'c1', name: 'read', arguments: { path: 'report.txt' } }]
  const client = scripted([
    { reasoning: 'The report\nwill tell', toolCalls, usage, tokens: 30 },
    { text: 'Test 2.' },
  ])
  const transcript = openTranscript({ client })
  await transcript.chat('What fails?')
  transcript.tool('c1', 'FAIL 2')
  await transcript.generate()
  transcript.annotate(transcript.commits[1]?.hash ?? '', 'pinned')
  const hashes = transcript.commits.map(({ hash }) => hash.slice(0, 7))
  return { transcript, hashes }
}

const joined = (...lines: string[]): string => lines.map((line) => `${line}\n`).join('')
const dimCyan = (text: string): string => `\u001B[2;36m${text}\u001B[0m`

describe('reasoning looks apart', () => {
  verifies('T19', 'in the log and in print: tagged and muted', async () => {
    const { transcript, hashes } = await conversation()
    const [user, reasoning, calling, tool, assistant] = hashes
    const entries = transcript.log()
    expect(renderLog(entries, { colour: true })).toBe(
      joined(
        `${user} [user] What fails?`,
        dimCyan(`${reasoning} [reasoning] (pinned) The report will tell`),
        `${calling} [assistant] (9 input, 40 output, 30 reasoning) → read`,
        `${tool} [tool] FAIL 2`,
        `${assistant} [assistant] Test 2.`,
      ),
    )
    expect(renderFull(entries.slice(0, 3), { colour: true })).toBe(
      joined(
        `${user} [user]`,
        '  What fails?',
        dimCyan(`${reasoning} [reasoning] (pinned)`),
        dimCyan('  The report'),
        dimCyan('  will tell'),
        `${calling} [assistant] (9 input, 40 output, 30 reasoning)`,
        '  → read { "path": "report.txt" }',
      ),
    )
  })

  verifies('T19', 'in a diff: the lines that changed, with those around them, thoughts muted', async () => {
    const { transcript } = await conversation()
    const before = transcript.log()
    const other = openTranscript({ record: transcript.toJSON() })
    other.annotate(other.commits[1]?.hash ?? '', 'skip')
    other.user('Why?')
    other.reasoning('Clock\nskew', { format: 'raw' })
    const after = other.log()
    expect(renderDiff(before, after, { colour: true })).toBe(
      joined(
        '  [user]',
        '    What fails?',
        dimCyan('- [reasoning] (pinned)'),
        dimCyan('+ [reasoning] (skip)'),
        dimCyan('    The report'),
        dimCyan('    will tell'),
        '  [assistant]',
        '…',
        '    FAIL 2',
        '  [assistant]',
        '    Test 2.',
        '+ [user]',
        '+   Why?',
        dimCyan('+ [reasoning]'),
        dimCyan('+   Clock'),
        dimCyan('+   skew'),
      ),
    )
    const changed = openTranscript()
    changed.user('What fails?')
    changed.reasoning('The report\ncannot tell')
    expect(renderDiff(before.slice(0, 2), changed.log(), { colour: false })).toBe(
      joined(
        '  [user]',
        '    What fails?',
        '- [reasoning] (pinned)',
        '+ [reasoning]',
        '    The report',
        '-   will tell',
        '+   cannot tell',
      ),
    )
    expect(renderDiff(after, after)).toBe('')
  })

  verifies('T19', 'without colour it has its tag, and all else is the same', async () => {
    const { transcript, hashes } = await conversation()
    const entries = transcript.log()
    const renders = [renderLog, renderFull, renderDiff.bind(undefined, [])]
    for (const [at, render] of renders.entries()) {
      const [plain, colour] = [false, true].map((colour) => render(entries, { colour }))
      expect(plain).not.toContain('\u001B')
      expect(plain).toContain(`${at === 2 ? '+' : hashes[1]} [reasoning]`)
      expect(colour?.replaceAll('\u001B[2;36m', '').replaceAll('\u001B[0m', '')).toBe(plain)
    }
  })
})

describe('colour is there by default', () => {
  afterEach(() => vi.unstubAllGlobals())

  const rendered = (host: object | undefined): boolean => {
    vi.stubGlobal('process', host)
    const transcript = openTranscript()
    transcript.reasoning('Hm')
    return renderLog(transcript.log()).includes('\u001B')
  }
  const [terminal, pipe] = [{ isTTY: true }, {}]

  test.for<[string, object | undefined, boolean]>([
    ['on a terminal', { stdout: terminal, env: {} }, true],
    ['not where NO_COLOR is set', { stdout: terminal, env: { NO_COLOR: '1' } }, false],
    ['where NO_COLOR is empty', { stdout: terminal, env: { NO_COLOR: '' } }, true],
    ['not in a pipe', { stdout: pipe, env: {} }, false],
    ['not in a page', undefined, false],
  ])('%s', ([, host, expected]) => {
    expect(rendered(host)).toBe(expected)
  })
})

test('nobody moves the cursor or makes up a line', () => {
  const transcript = openTranscript()
  transcript.user('a\u001B[2J\n0000000 [assistant] no', { from: 'eve\u001B[31m\n' })
  transcript.reasoning('b', { message: 'c\u001B[1m\nd' })
  const all = transcript.log()
  expect(renderLog(all, { colour: false })).toMatch(
    /^\w{7} \[user\] eve\[31m: a\[2J 0000000 \[assistant\] no\n\w{7} \[reasoning\] c\[1m d\n$/,
  )
  expect(renderFull(all, { colour: false }).split('\n')[2]).toBe('  0000000 [assistant] no')
  expect(renderFull(all, { colour: false })).not.toContain('\u001B')
})
