import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { serve } from '@meup/gateway'
import { createTestGateway, FakeClock, testToken } from '@meup/gateway/testing'
import { expect, onTestFinished, test } from 'vitest'
import { meup, startMeup } from '../support/cli.js'
import { copyDeployReview } from '../support/example-folder.js'
import { newsroom, newsroomCast } from '../support/newsroom.js'
import { fileNotes, reviewNotes } from '../support/notes/deploy-review.js'
import { newsroomNotes } from '../support/notes/newsroom.js'
import { firstMissing, lengthOf, type Note, type Notes } from '../support/notes/notes.js'
import { hiddenThoughts, storyNotes } from '../support/notes/story.js'
import { textOf } from '../support/shown-views.js'
import { notify } from '../support/story.js'
import { cast, story } from '../support/story-lines.js'

/** Returns the Markdown that a reader gets of one turn, or of all turns of an agent. */
type Export = (agent: string, turn?: string) => Promise<string>

const turnsIn = (markdown: string): string[] => markdown.split(/^(?=## Turn )/m)

/**
 * Returns the Markdown of a turn or job with this name in the notes. Jobs have no export of their own, so a job is cut out of
 * the export of its agent.
 */
async function exportOf(read: Export, name: string): Promise<string> {
  const [agent = '', turn] = name.split(' ')
  if (turn !== 'job') return read(agent, turn)
  const [header = '', ...turns] = turnsIn(await read(agent))
  return header + turns.find((each) => each.startsWith('## Turn') && /, job, \w+\n/.test(each))
}

/** Returns what is wrong with the Markdown for a reader who needs these facts; `undefined` = nothing. */
function troubleIn(markdown: string, notes: readonly Note[]): object | undefined {
  const missing = firstMissing(markdown, notes)
  const ratio = markdown.length / lengthOf(notes)
  return missing === undefined && ratio <= 3 ? undefined : { missing, ratio, markdown }
}

async function troublesIn(read: Export, all: Notes): Promise<Record<string, object>> {
  const troubles: Record<string, object> = {}
  for (const [name, notes] of Object.entries(all)) {
    const problem = troubleIn(await exportOf(read, name), notes)
    if (problem !== undefined) troubles[name] = problem
  }
  return troubles
}

/** Plays a story to its end, then advances the clock by `timeoutMs`, after which participants that have left count as gone. */
async function play(participants: typeof cast, steps: typeof story, timeoutMs = 0) {
  const clock = new FakeClock()
  const gateway = await createTestGateway({ participants, clock })
  const { url, close } = await serve({ gateway, host: '127.0.0.1', port: 0 })
  onTestFinished(close)
  await notify({ url, space: 'test', tokenOf: testToken }, clock, steps)
  clock.advance(timeoutMs)
  const get = (reader: string, query = '') =>
    textOf({ url, space: 'test', token: testToken(reader) }, `audit/export?format=markdown${query}`)
  const exportFor =
    (reader: string): Export =>
    (agent, turn) =>
      get(reader, `&thread_id=test/${agent}${turn === undefined ? '' : `&turn=${turn}`}`)
  return { exportFor, countFor: async (reader: string) => turnsIn(await get(reader)).length - 1 }
}

test('a reader finds all that there is to learn in each turn of the golden story', async () => {
  const { exportFor, countFor } = await play(cast, story)
  expect(await troublesIn(exportFor('reader'), storyNotes)).toEqual({})
  expect(await countFor('reader')).toBe(Object.keys(storyNotes).length)

  // A reader that may not see the thoughts of a hidden run learns everything else.
  const [thought = '', other = ''] = hiddenThoughts
  const [shown, own] = [
    await exportFor('reader')('security', '5'),
    await exportFor('security')('security', '5'),
  ]
  expect([thought, other].filter((text) => shown.includes(text))).toEqual([])
  expect(
    firstMissing(own, ['[思考] It is in the salaries.', 'read_table', '[思考] Nobody else is paid.']),
  ).toBe(undefined)
})

test('so in a story of runs that go wrong, of agents that wait for people, and of agents that think together', async () => {
  const { exportFor, countFor } = await play(newsroomCast, newsroom, 61_000)
  expect(await troublesIn(exportFor('reader'), newsroomNotes)).toEqual({})
  expect(await countFor('reader')).toBe(Object.keys(newsroomNotes).length)
  // The expired proposal is not shown together with unrelated messages of the same time.
  expect(await exportFor('reader')('intern', '1')).not.toContain('find_quote')
})

test('so in a run of deploy-review', { timeout: 120_000 }, async () => {
  const cwd = copyDeployReview()
  await startMeup('up', cwd)
  const question = 'Should we deploy this auth change?'
  await promisify(execFile)(process.execPath, [join(cwd, 'dist/start.js'), '--once', question])
  const read: Export = async (agent, turn) => {
    const part = ['--thread', agent, ...(turn === undefined ? [] : ['--turn', turn])]
    const { code, stdout } = await meup(['audit', 'export', '--format', 'markdown', ...part], { cwd })
    expect(code).toBe(0)
    return stdout
  }
  expect(await troublesIn(read, reviewNotes)).toEqual({})
  const files = await Promise.all(['1', '2', '3', '4'].map((turn) => read('files', turn)))
  for (const notes of fileNotes) {
    const [markdown = 'there is none', ...others] = files.filter(
      (each) => firstMissing(each, notes) === undefined,
    )
    expect([troubleIn(markdown, notes), others]).toEqual([undefined, []])
  }
})
