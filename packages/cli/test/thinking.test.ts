import type { OpenRun } from '@meup/agent-sdk'
import type { AnyEnvelope } from '@meup/protocol'
import { describe, expect, test } from 'vitest'
import { verifies } from '../../../test/verifies.js'
import { Screen } from '../src/view/screen.js'
import { ThoughtVisibility } from '../src/view/thinking.js'

/** A fake gateway whose responses the test triggers; `log` has the requests, in order. */
function scripted(...contexts: string[]) {
  const runs: OpenRun[] = contexts.map((context) => ({ context, owner: 'bot', reasoningVisible: true }))
  const waiting: { answer(): void; refuse(error: Error): void }[] = []
  const log: boolean[] = []
  const happened: string[] = []
  const thinking: ThoughtVisibility = new ThoughtVisibility({
    space: {
      get runs() {
        return runs
      },
    },
    changed: () => happened.push(thinking.status),
    reread: () => happened.push('reread'),
    failed: (error) => happened.push(`failed: ${error}`),
    cut: (isCut) =>
      new Promise((resolve, reject) => {
        const answer = (): void => {
          log.push(isCut)
          resolve()
        }
        waiting.push({ answer, refuse: reject })
      }),
  })
  return {
    ...{ thinking, runs, waiting, log, happened },
    /** Answers requests until there are no more. */
    async settle() {
      for (let turns = 0; turns < 10; turns++) {
        waiting.shift()?.answer()
        await Promise.resolve()
        await Promise.resolve()
      }
    },
  }
}

const start = (fields: object) => ({ kind: 'reasoning.start', id: 'next', ...fields }) as AnyEnvelope

describe('a toggle', () => {
  verifies(
    'O14',
    'changes the view before the gateway answers, and looks into the log after that',
    async () => {
      const { thinking, happened, log, settle } = scripted('run')
      thinking.toggle()
      expect([thinking.isShown, happened]).toEqual([false, ['thinking hidden']])
      await settle()
      expect([happened, log]).toEqual([['thinking hidden'], [true]])
      thinking.toggle()
      await settle()
      expect([happened, log]).toEqual([
        ['thinking hidden', 'thinking visible', 'reread'],
        [true, false],
      ])
    },
  )

  verifies('O16', 'asks the gateway for nothing where there is no run', async () => {
    const { thinking, happened, waiting } = scripted()
    thinking.toggle()
    expect([waiting, happened]).toEqual([[], ['thinking hidden']])
    thinking.toggle()
    expect([waiting, happened.slice(1)]).toEqual([[], ['thinking visible', 'reread']])
  })

  test('is for the runs that begin later as well', async () => {
    const { thinking, runs, log, settle } = scripted()
    thinking.toggle()
    runs.push({ context: 'next', owner: 'bot', reasoningVisible: true })
    thinking.onEnvelope(start({}))
    await settle()
    expect([thinking.isShown, log]).toEqual([false, [true]])
    thinking.onEnvelope(start({ context: 'next' }))
    thinking.onEnvelope(start({ id: 'another' }))
    await settle()
    expect(log).toEqual([true])
  })

  verifies('O15', 'that the gateway does not hear of stays, and is told', async () => {
    const { thinking, happened, waiting, log, settle } = scripted('run')
    thinking.toggle()
    waiting.shift()?.refuse(new Error('it cannot be reached at present'))
    await settle()
    expect(happened).toEqual(['thinking hidden', 'failed: Error: it cannot be reached at present'])
    expect(thinking.isShown).toBe(false)
    thinking.onConnected()
    await settle()
    expect(log).toEqual([true])
  })

  verifies('O20', 'a hundred times in a row leaves view and gateway with the same, odd or even', async () => {
    for (const count of [99, 100]) {
      const { thinking, log, settle } = scripted('run')
      for (let i = 0; i < count; i++) {
        thinking.toggle()
        if (i % 7 === 0) await settle()
      }
      await settle()
      expect(thinking.isShown).toBe(count % 2 === 0)
      expect(log.at(-1)).toBe(!thinking.isShown)
      expect(log.length).toBeGreaterThan(5)
    }
  })
})

describe('the screen', () => {
  const said = (seq: number, kind: string, message: string): AnyEnvelope =>
    ({ seq, id: `e${seq}`, kind, from: 'bot', context: 'run', payload: { message } }) as AnyEnvelope
  const thought = (seq: number) => said(seq, 'reasoning.thought', `${seq}`)

  function drawn() {
    const view = { shows: true }
    const lines: string[] = []
    const screen = new Screen(
      (more) => void lines.push(...more),
      () => view.shows,
    )
    return {
      ...{ screen, lines },
      hide: () => {
        view.shows = false
        screen.hide()
      },
      show: () => {
        view.shows = true
      },
    }
  }

  verifies('O18', 'has each thought below its run, unless it is hidden or says nothing', () => {
    const { screen, lines, hide } = drawn()
    screen.show(said(1, 'reasoning.thought', 'one'))
    screen.show(said(2, 'reasoning.thought', ''))
    hide()
    screen.show(said(3, 'reasoning.thought', 'two'))
    screen.show(said(4, 'reasoning.conclusion', 'so'))
    expect(lines).toEqual(['  bot · one', '  bot ∎ so'])
  })

  verifies('O22', 'lets what was hidden follow once: what came, and what the log had withheld', () => {
    const { screen, lines, hide, show } = drawn()
    screen.show(thought(1))
    expect(screen.isBehind).toBe(false)
    hide()
    expect(screen.isBehind).toBe(true)
    screen.catchUp([thought(2)], true)
    screen.show(thought(3))
    show()
    screen.show(thought(5))
    screen.catchUp([1, 2, 3, 4, 5].map(thought), true)
    expect(lines).toEqual([
      '  bot · 1',
      '  bot · 5',
      '… 3 thoughts from before:',
      '  bot · 2',
      '  bot · 3',
      '  bot · 4',
    ])
    expect(screen.isBehind).toBe(false)
    screen.catchUp([thought(2)], true)
    expect(lines).toHaveLength(6)
  })

  test('tells what came while the log cannot be read, and the rest when it can', () => {
    const { screen, lines, hide, show } = drawn()
    hide()
    screen.show(thought(2))
    show()
    screen.catchUp([], false)
    screen.catchUp([thought(1), thought(2)], true)
    expect(lines).toEqual(['… 1 thought from before:', '  bot · 2', '… 1 thought from before:', '  bot · 1'])
  })
})
