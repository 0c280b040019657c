import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Kind } from '@meup/protocol'
import { expect, test } from 'vitest'
import { terminalSpace } from '../support/terminal.js'
import { inTmux } from '../support/tmux.js'
import { writeAnswers } from '../support/writing.js'

test(
  'meup ask writes an answer as it comes, once, and marks what turns out to be no part of it',
  { timeout: 60_000 },
  inTmux(async () => {
    const { seats, open, cwd, url } = await terminalSpace(['planner', 'coder'])
    const write = async (id: 'planner' | 'coder') =>
      writeAnswers({ url, space: 'demo', token: readFileSync(join(cwd, '.meup/tokens', id), 'utf8').trim() })
    const [planner, coder] = [await write('planner'), await write('coder')]
    const asked = new Promise<string>((resolve) => {
      seats.planner.on('envelope', ({ id, kind }) => kind === Kind.chat && resolve(id))
    })
    const pane = open('ask "Why?"')
    const question = await asked
    await planner.write(question, ['I look ', 'it up.'])
    await pane.sees('I look it up.')
    coder.delta(question, 0, 'never shown')
    await planner.write(question, ['\nBecause\n', 'of ', 'rain'])
    await pane.sees('of rain')
    planner.delta(question, 0, 'Because')
    planner.answer(question, 'Because\nof rain and snow\n')
    await pane.sees('ended 0')
    expect(pane.all().split('\n')).toEqual([
      'I look it up.',
      '(that was not the answer)',
      '',
      'Because',
      '    of rain and snow',
      'ended 0',
    ])
  }),
)
