import { describe, expect, vi } from 'vitest'
import { afterFour, openAsked, questions, updates, wireframe } from '../support/asked.js'
import { meup, spawnMeup } from '../support/cli.js'
import { verifies } from '../verifies.js'

const within = { timeout: 40_000, interval: 20 }
const timeout = 60_000

describe('the block after an answer', () => {
  verifies(
    'I15',
    'is what the document shows, byte for byte, before what is said next',
    async () => {
      const { cwd, ben } = await openAsked()
      for (const question of questions.slice(0, 3)) await ben.ask(question)
      const ana = spawnMeup(['join'], cwd)
      await vi.waitFor(() => expect(ana.said.stderr).toContain('you are ana'), within)
      const answered = ben.ask(updates)
      const next = answered.then(() => ben.chat('I see'))
      await next
      await vi.waitFor(() => expect(ana.said.stdout).toContain('ben: I see'), within)
      const { stdout } = ana.said
      expect(stdout.slice(stdout.indexOf('bot: The latest'))).toBe(`${wireframe(4)}ben: I see\n`)
      expect(ana.said.stderr).toBe('you are ana in demo; type to talk, /help tells more, Ctrl+D leaves\n')
    },
    { timeout },
  )

  verifies(
    ['I15', 'I18'],
    'comes for turns with tools alone, whoever they are of, once each',
    async () => {
      const { cwd, ben } = await openAsked()
      const joined = spawnMeup(['join', '--as', 'ben'], cwd)
      await vi.waitFor(() => expect(joined.said.stderr).toContain('you are ben'), within)
      for (const question of questions) await ben.ask(question)
      await ben.ask('what time is it?', { to: ['aide'] })
      await ben.chat('that is all')
      await vi.waitFor(() => expect(joined.said.stdout).toContain('that is all'), within)
      const { stdout } = joined.said
      expect(stdout.match(/Reasoning \(turn \d+\)/g)).toEqual([
        'Reasoning (turn 1)',
        'Reasoning (turn 3)',
        'Reasoning (turn 4)',
        'Reasoning (turn 1)',
      ])
      expect(stdout).toContain(`bot: The file is missing.

  ┄ Reasoning (turn 3)
  Narrative: "I'll look in both places."
  ┄ [parallel batch 0]
  ┄   ↳ memory_search  "searching memory"
       params: { "query": "auth design" }
       → 3 documents found
  ┄   ↳ file_read  "reading the source"
       params: { "path": "auth.ts", "token": "[redacted]" }
       → error
`)
    },
    { timeout },
  )

  verifies(
    'I15',
    'is not for programs, nor for those who watch',
    async () => {
      const { cwd, ben } = await openAsked()
      const all = ['join --json', 'watch', 'watch --json'].map((args) => spawnMeup(args.split(' '), cwd))
      await vi.waitFor(() => expect(all[0]?.said.stderr).toContain('you are ana'), within)
      await vi.waitFor(async () => {
        await ben.ask(updates)
        for (const { said } of all) expect(said.stdout).toContain('The latest updates')
      }, within)
      for (const { said } of all) expect(said.stdout).not.toContain('┄ Reasoning')
    },
    { timeout },
  )
})

describe('/reasoning', () => {
  const first = `  ┄ Reasoning — turn 1
  Narrative: "Looking at the clock"

  ┄ shell
    rationale: "retrieved the current time"
    params:    { "command": "date" }
    outcome:   success (142 chars)
`
  const third = `  ┄ Reasoning — turn 3
  Narrative: "I'll look in both places."

  ┄ [parallel batch 0]
  ┄   ↳ memory_search
       rationale: "searching memory"
       params:    { "query": "auth design" }
       outcome:   3 documents found

  ┄   ↳ file_read
       rationale: "reading the source"
       params:    { "path": "auth.ts", "token": "[redacted]" }
       outcome:   error
`
  const fourth = `  ┄ Reasoning — turn 4

  ┄ memory_search
    rationale: "searched memory for 'recent project updates'"
    params:    { "query": "recent project updates", "limit": 5 }
    outcome:   3 documents found

  ┄ shell
    rationale: "ran git log to check recent commits"
    params:    { "command": "git log --oneline -10" }
    outcome:   success (142 chars)
`
  const long = (text: string): string => text.replace('— turn', '— thread demo/bot, turn')

  verifies(
    'I21',
    'shows the latest turn, the one with a number, or all; the command says the same',
    async () => {
      const { cwd } = await afterFour()
      const all = [long(first), '  ─ Turn 2 had no tool calls.\n', long(third), long(fourth)].join('\n')
      const shown = [
        ['', fourth],
        ['1', first],
        ['3', third],
        ['all', all],
        ['2', '  ─ Turn 2 had no tool calls.\n'],
      ] as const
      const typed = [...shown.map(([argument]) => argument), '3 @bot']
      const input = typed.map((argument) => `/reasoning ${argument}\n`).join('')
      const { stdout } = await meup(['join', '--as', 'ben'], { cwd, input })
      expect(stdout).toBe([...shown.map(([, text]) => text), third].join(''))
      for (const [argument, text] of shown) {
        const args = argument === '' ? ['reasoning'] : ['reasoning', argument]
        expect(await meup(args, { cwd })).toEqual({ code: 0, stdout: text, stderr: '' })
      }
      expect((await meup(['reasoning', '3', '--thread', 'bot'], { cwd })).stdout).toBe(long(third))
    },
    { timeout },
  )

  verifies(
    ['I22', 'I23'],
    'is about the agent that answered last, or another one by name; says what it cannot show',
    async () => {
      const { cwd, ben } = await afterFour()
      await ben.ask('what time is it?', { to: ['aide'] })
      const asBen = async (...lines: string[]) =>
        meup(['join', '--as', 'ben'], { cwd, input: lines.map((line) => `${line}\n`).join('') })
      expect((await asBen('/reasoning')).stdout).toBe(first)
      expect((await asBen('/reasoning 1 @bot')).stdout).toBe(long(first))
      const { stdout: inOrder } = await asBen('/reasoning all @bot', '/reasoning 1 @aide', '/help')
      const help = (await asBen('/help')).stdout
      expect(inOrder).toBe(
        [long(first), '  ─ Turn 2 had no tool calls.\n', long(third), long(fourth)].join('\n') + first + help,
      )
      const missing = ['0', '-1', 'abc', '1000000000', '5']
      const { stdout } = await asBen(...missing.map((asked) => `/reasoning ${asked}`))
      expect(stdout).toBe(
        missing.map((asked) => `  ✗ No reasoning data for turn ${asked} in this thread.\n`).join(''),
      )
      const nobody = await asBen('/reasoning @nobody')
      expect(nobody).toMatchObject({
        code: 0,
        stdout: '',
        stderr: expect.stringMatching(/\n✗ .+ \(not_found\)\n/),
      })
    },
    { timeout },
  )
})
