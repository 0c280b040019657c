import type { Run } from '@meup/agent-sdk'
import type { AnyEnvelope } from '@meup/protocol'
import { describe, expect, test } from 'vitest'
import { verifies } from '../../../test/verifies.js'
import { Screen, type Surface } from '../src/view/screen.js'
import { Thinking } from '../src/view/thinking.js'

/** A gateway that answers when the test says so; `log` has what it accepted, in order. */
function scripted(...contexts: string[]) {
  const runs: Run[] = contexts.map((context) => ({ context, owner: 'bot', reasoningVisible: true }))
  const waiting: { answer(): void; refuse(error: Error): void }[] = []
  const log: boolean[] = []
  const happened: string[] = []
  let isConnected = true
  const set = (context: string, reasoningVisible: boolean): void => {
    const at = runs.findIndex((run) => run.context === context)
    runs.splice(at, 1, { context, owner: 'bot', reasoningVisible })
    log.push(reasoningVisible)
  }
  const thinking: Thinking = new Thinking({
    space: {
      get runs() {
        return runs
      },
      setVisibility: (context, visible) =>
        new Promise((resolve, reject) => {
          const answer = (): void => {
            set(context, visible)
            resolve({} as AnyEnvelope)
          }
          waiting.push({ answer, refuse: reject })
        }),
    },
    isConnected: () => isConnected,
    changed: () => happened.push(thinking.status),
    reread: () => happened.push('reread'),
    failed: (error) => happened.push(`failed: ${error}`),
  })
  return {
    ...{ thinking, runs, waiting, log, happened, set },
    disconnect: () => {
      isConnected = false
    },
    /** Answers whatever is asked until nothing is asked any more. */
    async settle() {
      for (let turns = 0; turns < 10; turns++) {
        waiting.shift()?.answer()
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
      const { thinking, happened, settle } = scripted('run')
      thinking.toggle()
      expect([thinking.isShown, happened]).toEqual([false, ['thinking hidden']])
      await settle()
      expect(happened).toEqual(['thinking hidden', 'reread'])
    },
  )

  verifies('O16', 'asks the gateway for nothing where there is no run', async () => {
    const { thinking, happened, waiting } = scripted()
    thinking.toggle()
    expect([waiting, happened]).toEqual([[], ['thinking hidden', 'reread']])
  })

  test('is for the run that began last', async () => {
    const { thinking, runs, settle } = scripted('one', 'two')
    thinking.toggle()
    await settle()
    expect(runs.map(({ reasoningVisible }) => reasoningVisible)).toEqual([true, false])
  })

  verifies('O15', 'that the gateway refuses stays, and is told', async () => {
    const { thinking, happened, waiting, disconnect } = scripted('run')
    thinking.toggle()
    waiting.shift()?.refuse(new Error('forbidden'))
    await Promise.resolve()
    expect(happened).toEqual(['thinking hidden', 'failed: Error: forbidden'])
    disconnect()
    thinking.toggle()
    expect(happened.slice(2)).toEqual(['thinking visible', 'failed: Error: it cannot be reached at present'])
    expect([thinking.isShown, waiting]).toEqual([true, []])
  })

  verifies('O20', 'a hundred times in a row leaves view and gateway with the same, odd or even', async () => {
    for (const count of [99, 100]) {
      const { thinking, runs, log, settle } = scripted('run')
      for (let i = 0; i < count; i++) {
        thinking.toggle()
        if (i % 7 === 0) await settle()
      }
      await settle()
      expect(thinking.isShown).toBe(count % 2 === 0)
      expect(runs[0]?.reasoningVisible).toBe(thinking.isShown)
      expect(log.length).toBeGreaterThan(5)
    }
  })

  test('that somebody else undoes meanwhile is undone', async () => {
    const { thinking, waiting, set } = scripted('run')
    thinking.toggle()
    waiting.shift()?.answer()
    set('run', true)
    thinking.follow({ context: 'run', reasoningVisible: true, by: 'ben' })
    expect(thinking.isShown).toBe(false)
    await Promise.resolve()
    await Promise.resolve()
    expect(thinking.isShown).toBe(true)
  })
})

test('a run that begins before the gateway has answered is visible', async () => {
  const { thinking, runs, settle } = scripted('run')
  thinking.toggle()
  runs.push({ context: 'next', owner: 'bot', reasoningVisible: true })
  thinking.take(start({}))
  await settle()
  expect(thinking.isShown).toBe(true)
})

describe('what others do', () => {
  verifies(
    ['O17', 'O19'],
    'is followed for the run that goes on, and drawn only where it changes something',
    () => {
      const { thinking, happened } = scripted('past', 'run')
      for (const context of ['past', 'never']) thinking.follow({ context, reasoningVisible: false })
      thinking.follow({ context: 'run', reasoningVisible: true })
      expect(happened).toEqual([])
      thinking.follow({ context: 'run', reasoningVisible: false, by: 'ben' })
      thinking.follow({ context: 'run', reasoningVisible: false, by: 'ben' })
      expect(happened).toEqual(['thinking hidden', 'reread'])
    },
  )

  verifies('O02', 'a run that begins is visible, a nested context changes nothing', () => {
    const { thinking, happened } = scripted()
    thinking.toggle()
    thinking.take(start({ context: 'run' }))
    expect(thinking.isShown).toBe(false)
    thinking.take(start({}))
    thinking.take(start({}))
    expect(happened).toEqual(['thinking hidden', 'reread', 'thinking visible'])
  })
})

describe('the screen', () => {
  const said = (seq: number, kind: string, message: string): AnyEnvelope =>
    ({ seq, id: `e${seq}`, kind, from: 'bot', context: 'run', payload: { message } }) as AnyEnvelope
  function drawn(rows = 24) {
    let shows = true
    const lines: string[] = []
    const surface: Surface = {
      rows,
      print: (more) => void lines.push(...more),
      clear: () => void lines.splice(0),
    }
    const screen = new Screen(surface, () => shows)
    const hide = (): void => {
      shows = false
    }
    return { screen, lines, hide }
  }

  verifies('O18', 'has each thought below its run, unless it is hidden or says nothing', () => {
    const { screen, lines, hide } = drawn()
    screen.show(said(1, 'reasoning.thought', 'one'))
    screen.show(said(2, 'reasoning.thought', ''))
    hide()
    screen.show(said(3, 'reasoning.thought', 'two'))
    screen.show(said(4, 'reasoning.conclusion', 'so'))
    expect(lines).toEqual(['  bot · one', '  bot ∎ so'])
    screen.draw('hidden')
    expect(lines).toEqual(['  bot ∎ so', 'hidden'])
  })

  verifies('O22', 'puts what the log had withheld where it belongs', () => {
    const { screen, lines } = drawn()
    for (const seq of [2, 5]) screen.show(said(seq, 'chat', `${seq}`))
    screen.add([1, 2, 3, 4].map((seq) => said(seq, 'reasoning.thought', `${seq}`)))
    screen.draw('visible')
    expect(lines).toEqual(['  bot · 1', '  bot: 2', '  bot · 3', '  bot · 4', '  bot: 5', 'visible'])
  })

  test('is drawn as far as it is high', () => {
    const { screen, lines } = drawn(4)
    for (const seq of [1, 2, 3, 4, 5]) screen.show(said(seq, 'chat', `${seq}`))
    screen.draw('visible')
    expect(lines).toEqual(['  bot: 4', '  bot: 5', 'visible'])
  })
})
