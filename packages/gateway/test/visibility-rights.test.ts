import { fillIn } from '@meup/protocol/error-texts'
import { describe, expect, test } from 'vitest'
import { verifies } from '../../../test/verifies.js'
import { texts } from '../src/core/refusal-texts.js'
import { byId, type Sent } from './client.js'
import { asking } from './http-client.js'
import { start } from './support.js'
import { begin, conclude, onlookers, participants, show } from './visibility.js'

describe('the switch', () => {
  test('is the owner’s without any capability for it, and that of whoever holds one', async () => {
    const { by, ana } = await onlookers()
    await by.accepted(show('run', false))
    await ana.accepted(show('run', false))
    await ana.accepted(begin('own'))
    expect(await by.refused(show('own', false))).toMatchObject({ code: 'forbidden' })
  })

  verifies('O06', 'is nobody else’s, nor reaches into another space', async () => {
    const others = [{ name: 'second', participants }]
    const running = await onlookers({ others })
    const { ben, auditor, post, dial, url } = running
    for (const stranger of [ben, auditor]) {
      const refusal = await stranger.refused(show('run', false))
      expect(refusal).toMatchObject({
        code: 'forbidden',
        message: fillIn(texts.othersRun, { context: 'run', kind: 'observe.visibility' }),
      })
    }
    expect(await post('ben', show('run', false))).toMatchObject({ status: 403, body: { code: 'forbidden' } })
    const elsewhere = await dial({ space: 'second', token: 'token-of-ana' })
    expect(await elsewhere.refused(show('run', false))).toMatchObject({ code: 'run_not_active' })
    expect(await asking(url, 'ben').json('/contexts/run')).toMatchObject({ reasoningVisible: true })
  })

  test('may be given for some runs alone', async () => {
    const capability = { kind: 'observe.visibility', payload: { context: 'run-*', reasoningVisible: false } }
    const { connect } = await start({ participants: { ...participants, ben: [capability] } })
    const [by, ben] = [await connect('agent'), await connect('ben')]
    for (const id of ['run-1', 'other']) await by.accepted(begin(id))
    await ben.accepted(show('run-1', false))
    for (const sent of [show('run-1', true), show('other', false)]) {
      expect(await ben.refused(sent)).toMatchObject({ code: 'forbidden' })
    }
  })

  verifies('O05', 'knows no run that never was, is over, or is a free path', async () => {
    const { by, ana, ben, post } = await onlookers()
    const asked: [typeof ana, string][] = [
      [ana, 'never'],
      [ben, 'never'],
      [ana, 'free'],
    ]
    await by.accepted({ kind: 'reasoning.thought', context: 'free' })
    const inner = await by.accepted(begin('in', 'run'))
    asked.push([by, inner.id])
    await by.accepted(conclude())
    asked.push([by, 'run'], [ana, 'run'], [ben, 'run'])
    for (const [client, run] of asked) {
      expect(await client.refused(show(run, false))).toMatchObject({
        code: 'run_not_active',
        message: fillIn(texts.inactiveRun, { context: run }),
        details: { path: '/payload/context' },
      })
    }
    expect(await post('ana', show('run', true))).toMatchObject({
      status: 409,
      body: { code: 'run_not_active' },
    })
  })

  verifies(
    ['O03', 'O04'],
    'takes a run and a boolean, and says what is wrong with anything else',
    async () => {
      const { by, ben, ana } = await onlookers()
      const malformed: [string, object][] = [
        ['/payload/context', { reasoningVisible: true }],
        ['/payload/reasoningVisible', { context: 'run' }],
        ['/payload/context', { context: '', reasoningVisible: true }],
        ['/payload/context', { context: 7, reasoningVisible: true }],
        ['/payload/context', { context: 'run/in', reasoningVisible: true }],
        ['/payload/reasoningVisible', { context: 'run', reasoningVisible: 'true' }],
        ['/payload/reasoningVisible', { context: 'run', reasoningVisible: 0 }],
        ['/payload/reasoningVisible', { context: 'run', reasoningVisible: null }],
        ['/payload/runId', { context: 'run', reasoningVisible: true, runId: 'run' }],
      ]
      for (const client of [by, ana, ben]) {
        for (const [path, payload] of malformed) {
          const refusal = await client.refused({ kind: 'observe.visibility', payload })
          expect(refusal).toMatchObject({ code: 'invalid_payload', details: { path } })
          expect(refusal.message.startsWith(`${path} `)).toBe(true)
        }
      }
      await by.accepted(show('run', true))
    },
  )

  test('is for all: it has no addressee', async () => {
    const { by } = await onlookers()
    const refusal = await by.refused({ ...show('run', false), to: ['ana'] })
    expect(refusal).toMatchObject({ code: 'invalid_envelope', details: { path: '/to' } })
    await by.accepted({ ...show('run', false), to: [] })
  })

  test('is told to whoever sees boundaries or no reasoning at all', async () => {
    const { by, ana, ben } = await onlookers()
    await ana.subscribe({ reasoning: 'boundaries' })
    await ben.subscribe({ reasoning: 'none' })
    const { id } = await by.accepted(show('run', false))
    for (const client of [ana, ben]) expect((await client.next(byId(id))).payload).toEqual(hidden)
  })

  test('is not moved by somebody who is paused', async () => {
    const { by, ana } = await onlookers()
    await ana.accepted({ kind: 'participant.pause', to: ['agent'] })
    expect(await by.refused(show('run', false))).toMatchObject({ code: 'participant_paused' })
  })
})

const hidden: Sent = { context: 'run', reasoningVisible: false }
