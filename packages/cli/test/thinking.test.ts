import type { Run } from '@meup/agent-sdk'
import { type AnyEnvelope, ProtocolError } from '@meup/protocol'
import { describe, expect, test } from 'vitest'
import { verifies } from '../../../test/verifies.js'
import { Screen } from '../src/view/screen.js'
import { ThoughtVisibility } from '../src/view/thinking.js'

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
  const thinking: ThoughtVisibility = new ThoughtVisibility({
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
    cut: async (isCut) => void happened.push(isCut ? 'cut' : 'uncut'),
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

/** Lets everything happen that waits for nothing else. */
async function settled(): Promise<void> {
  for (let turns = 0; turns < 10; turns++) await Promise.resolve()
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
    await settled()
    expect(happened).toEqual(['thinking hidden', 'failed: Error: forbidden'])
    disconnect()
    thinking.toggle()
    expect(happened.slice(2)).toEqual(['thinking visible', 'failed: Error: it cannot be reached at present'])
    expect([thinking.isShown, waiting]).toEqual([true, []])
  })

  test('that one may not make for everybody is made for this connection alone, until the next run', async () => {
    const { thinking, happened, waiting, set, runs } = scripted('run')
    thinking.toggle()
    waiting.shift()?.refuse(new ProtocolError('forbidden', 'not yours'))
    await settled()
    expect(happened).toEqual([
      'thinking hidden',
      expect.stringMatching(/^failed: .*not yours/),
      'cut',
      'reread',
    ])
    set('run', true)
    thinking.onVisibility({ context: 'run', reasoningVisible: true, by: 'ben' })
    expect(thinking.isShown).toBe(false)
    thinking.toggle()
    await settled()
    expect(happened.slice(4)).toEqual(['thinking visible', 'uncut', 'reread'])

    thinking.toggle()
    waiting.shift()?.refuse(new ProtocolError('capability_violation', 'not yours'))
    await settled()
    runs.push({ context: 'next', owner: 'bot', reasoningVisible: true })
    thinking.onEnvelope(start({}))
    expect(happened.slice(-2)).toEqual(['thinking visible', 'uncut'])
    expect(waiting).toEqual([])
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
    thinking.onVisibility({ context: 'run', reasoningVisible: true, by: 'ben' })
    expect(thinking.isShown).toBe(false)
    await settled()
    expect(thinking.isShown).toBe(true)
  })
})

test('a run that begins before the gateway has answered is visible', async () => {
  const { thinking, runs, settle } = scripted('run')
  thinking.toggle()
  runs.push({ context: 'next', owner: 'bot', reasoningVisible: true })
  thinking.onEnvelope(start({}))
  await settle()
  expect(thinking.isShown).toBe(true)
})

describe('what others do', () => {
  verifies(
    ['O17', 'O19'],
    'is followed for the run that goes on, and drawn only where it changes something',
    () => {
      const { thinking, happened } = scripted('past', 'run')
      for (const context of ['past', 'never']) thinking.onVisibility({ context, reasoningVisible: false })
      thinking.onVisibility({ context: 'run', reasoningVisible: true })
      expect(happened).toEqual([])
      thinking.onVisibility({ context: 'run', reasoningVisible: false, by: 'ben' })
      thinking.onVisibility({ context: 'run', reasoningVisible: false, by: 'ben' })
      expect(happened).toEqual(['thinking hidden', 'reread'])
    },
  )

  verifies('O02', 'a run that begins is visible, a nested context changes nothing', () => {
    const { thinking, happened } = scripted()
    thinking.toggle()
    thinking.onEnvelope(start({ context: 'run' }))
    expect(thinking.isShown).toBe(false)
    thinking.onEnvelope(start({}))
    thinking.onEnvelope(start({}))
    expect(happened).toEqual(['thinking hidden', 'reread', 'thinking visible'])
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
    hide()
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
