import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { SpaceClient } from '@meup/agent-sdk'
import { expect, test } from 'vitest'
import { meup } from '../support/cli.js'
import { onPage } from '../support/page.js'
import { terminalSpace } from '../support/terminal.js'
import { inTmux } from '../support/tmux.js'

/** Maximum milliseconds until the asker reads why there is no answer. */
const within = 2000

/** Ways in which an agent fails to answer a question, with the text that the asker reads. */
const failures: Readonly<Record<string, string>> = {
  throw: 'I could not answer: out of paper',
  refused: 'I could not answer: "planner" is not allowed to send "capability.grant"',
  broken: 'I could not answer: the model is gone',
  interrupted: 'I was stopped: interrupted by ana',
}

async function* halfAnAnswer(): AsyncGenerator<string> {
  yield 'The first half'
  throw new Error('the model is gone')
}

/** Starts an agent that fails to answer each question of `failures`. Its error log is not tested here. */
function fail(agent: SpaceClient, ana: SpaceClient): void {
  void agent.answer(
    async (turn) => {
      if (turn.text.includes('throw')) throw new Error('out of paper')
      if (turn.text.includes('refused')) await agent.grant('ana', ['chat'])
      if (turn.text.includes('broken')) await turn.reply(halfAnAnswer())
      const run = await turn.reason('Looking')
      await ana.interrupt(run.context)
      await new Promise((resolve) => turn.signal.addEventListener('abort', resolve))
      await run.thought('too late')
    },
    { onError: () => {} },
  )
}

test(
  'who asks on the page reads within two seconds why there is no answer',
  { timeout: 60_000 },
  onPage(async ({ gateway, page, enter }) => {
    const ana = await gateway.enter('ana')
    fail(await gateway.enter('planner'), ana)
    await enter()
    for (const [question, answer] of Object.entries(failures)) {
      const began = Date.now()
      await ana.chat(question, { to: ['planner'] })
      await page.shows(answer)
      expect([question, Date.now() - began < within]).toEqual([question, true])
    }
  }),
)

test(
  'and in a terminal, by a command, over HTTP and AG-UI',
  { timeout: 120_000 },
  inTmux(async () => {
    const { seats, open, cwd, url, enter } = await terminalSpace(['planner'])
    const ana = await enter('ana')
    fail(seats.planner, ana)
    const pane = open()
    await pane.sees('type to talk')
    const token = readFileSync(join(cwd, '.meup/tokens/ana'), 'utf8').trim()
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    for (const [question, answer] of Object.entries(failures)) {
      const began = Date.now()
      const { id } = await ana.chat(question, { to: ['planner'] })
      await pane.sees(answer.slice(0, 45))
      const log = await fetch(`${url}/spaces/demo/envelopes?correlationId=${id}&kind=chat`, { headers })
      expect(await log.text()).toContain(JSON.stringify(answer).slice(1, -1))
      expect([question, Date.now() - began < within]).toEqual([question, true])

      const asked = await meup(['ask', 'planner', question, '--as', 'ana'], { cwd })
      expect(asked).toMatchObject({ code: 9, stdout: '' })
      expect(asked.stderr).toContain(`meup: planner: ${answer}`)

      const body = JSON.stringify({
        ...{ threadId: `thread-${question}`, runId: `run-${question}`, state: {}, tools: [], context: [] },
        ...{ forwardedProps: {}, messages: [{ id: `m-${question}`, role: 'user', content: question }] },
      })
      const run = await fetch(`${url}/spaces/demo/ag-ui?agent=planner`, { method: 'POST', headers, body })
      const events = await run.text()
      // An AG-UI run ends when the turn is cancelled, with the reason.
      const reason = JSON.stringify(answer.replace(/^I (could not answer|was stopped): /, '')).slice(1, -1)
      expect(events).toContain(reason)
      expect(events).toMatch(/RUN_(FINISHED|ERROR)/)
    }
  }),
)
