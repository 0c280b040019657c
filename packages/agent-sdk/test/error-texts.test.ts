import { describe, expect, test } from 'vitest'
import { filesUnder } from '../../../test/support/files.js'
import { readText } from '../../../test/support/packages.js'
import { optionTexts } from '../src/adapters/errors.js'
import { agentErrors, schemaErrors } from '../src/agent/errors.js'
import * as client from '../src/client/errors.js'
import { noAnswerTexts } from '../src/model/errors.js'
import { transcriptTexts } from '../src/transcript/errors.js'

const [why, cause] = ['it broke', new Error('it broke')]

/** An error for each text of this package, with the expected message: no other test compares messages. */
const texts: readonly (readonly [error: Error, text: string])[] = [
  // Errors of `client/errors.ts`.
  [client.abortedError({ reason: 'enough' }), 'aborted: enough'],
  [client.endedError(), 'the connection is closed'],
  [client.brokenExportError(), 'the export broke off before its end. Export it again.'],
  [client.unreachableError('http://a', 'HTTP 502'), 'no gateway answers at http://a: HTTP 502'],
  [
    client.unreachableError(
      'https://a',
      'write EPROTO 80:error:0A00010B:SSL routines:wrong version number:\n',
    ),
    'no gateway answers at https://a: it speaks no TLS. Begin the address with http://.',
  ],
  [client.lostError('the connection was lost (1006)'), 'the connection was lost (1006)'],
  [client.unguardedError(why), 'the scanner for secrets could not be loaded: it broke'],
  [client.timeoutError('response', 20), 'no response within 20 ms'],
  [client.awayError('bot', false), '"bot" is away: nothing was sent to it'],
  [
    client.awayError('bot', true, 'failed'),
    '"bot" is away, its program is failed: whether it carried out the call is not known',
  ],
  [client.programEndedError('bot'), 'bot stopped: its program ended'],
  [client.unacknowledgedError(9), '9 envelopes are unacknowledged. Await the promises of send().'],
  [
    client.openTurnsError(64, 64, 8, 'ana'),
    '64 turns are open, 8 of ana. Answer faster, or raise `queue`: messages are refused until a turn has ended.',
  ],
  [client.malformedError('it is not JSON'), 'the gateway sent an invalid frame: it is not JSON'],
  [client.notAnAddressError('here'), 'here is not an address like http://127.0.0.1:8080'],
  [
    client.invalidCredentialError('token'),
    'the token has a line break or another character that an HTTP header cannot hold. Check that it was copied whole, and alone.',
  ],
  [client.invalidNumberError('reconnect.minMs', 0, 1), 'reconnect.minMs is 0. Set a number from 1 on.'],
  [client.noEnvironmentError('url'), 'a page has no environment. Name `url` and `space`.'],
  [client.postedKindError('chat.delta'), 'chat.delta is not acknowledged. Send it with post().'],
  [client.unnamedToolError('look'), '"look" names no participant. Name a tool as participant/tool.'],
  [client.usedIdError('e1'), 'another envelope with the id e1 is on its way. Use a fresh id.'],
  [
    client.noCapabilityError('p1', 'has no addressee'),
    'p1 has no addressee. Approve it alone, or grant what you mean with grant().',
  ],
  [new client.ToolError(''), 'the tool failed without saying why'],

  // Errors of `agent/errors.ts`.
  [agentErrors.unnamedTool(), 'a tool has no name. Give it one.'],
  [agentErrors.offeredTool('look'), 'the tool look is offered already. Choose another name.'],
  [
    agentErrors.refusedTool('look', schemaErrors.notAnObject('string')),
    'the tool look cannot be offered: its input is of the type "string". Make it an object.',
  ],
  [
    agentErrors.refusedOutput(schemaErrors.notASchema()),
    'an agent cannot have this output: it is not a schema. Use Type.Object({ … }) of @sinclair/typebox, z.object({ … }) of zod, or a JSON Schema.',
  ],
  [agentErrors.emptyAnswer(), 'the agent gave no answer. Ask again.'],
  [agentErrors.longAnswer(9), 'the answer is longer than 9 characters. Ask for less.'],
  [schemaErrors.notAJsonSchema('/type must be a text'), 'is not a JSON Schema: /type must be a text'],
  [schemaErrors.notJson(cause), 'has no JSON Schema: it broke'],
  [
    schemaErrors.undescribed('acme'),
    'is a schema of acme, which has no JSON Schema. Update it, or wrap the schema, as toStandardJsonSchema() of @valibot/to-json-schema does.',
  ],
  [schemaErrors.notData(), 'has a JSON Schema that is not an object'],
  [
    schemaErrors.oldZod(),
    'this version of zod gives no JSON Schema. Use zod 4.2 or newer, or install zod-to-json-schema, for zod 3, next to @meup/agent-sdk.',
  ],
  [
    schemaErrors.uncheckedInPage(),
    'is a plain JSON Schema, which a page does not check. Use TypeBox, or zod.',
  ],
  [
    schemaErrors.oldZodInPage(),
    'this version of zod gives no JSON Schema in a page. Use zod 4.2 or newer, or TypeBox.',
  ],
]

const tables: Readonly<Record<string, string>> = {
  ...noAnswerTexts,
  ...transcriptTexts,
  ...Object.fromEntries(Object.entries(optionTexts).map(([name, [, text]]) => [name, text])),
}

describe('what happened, with the value. What to do.', () => {
  test.for(Object.entries(tables))('%s: %s', ([, text]) => {
    expect(text).toMatch(/^[a-z{][^;]*\. .*(?:[.]|: \{\w+\})$/)
  })

  test.for(texts)('%s', ([error, text]) => {
    expect(error.message).toBe(text)
    expect(text).toMatch(/^[a-z0-9"]/)
    expect(text).not.toMatch(/;|\.\.|[.?] [a-z]/)
  })
})

test('each text is thrown, and there once', () => {
  const paths = filesUnder('packages/agent-sdk/src')
  const sources = paths.filter((path) => !path.endsWith('/errors.ts')).map(readText)
  const code = sources.join('\n')
  expect(Object.keys(tables).filter((name) => !code.includes(`'${name}'`))).toEqual([])
  const own = readText('packages/agent-sdk/test/error-texts.test.ts')
  const makers = ['client', 'agent'].flatMap((part) => [
    ...readText(`packages/agent-sdk/src/${part}/errors.ts`).matchAll(
      /^(?: {2}|export const )(\w+)(?::| =) \(/gm,
    ),
  ])
  expect(makers.length).toBeGreaterThan(30)
  const unseen = makers.filter(([, name]) => !own.includes(`.${name}(`)).map(([, name]) => name)
  expect(unseen).toEqual(['notConfiguredError'])
  const all = [...Object.values(tables), ...texts.map(([, text]) => text)]
  expect(new Set(all).size).toBe(all.length)
  expect(sources.filter((source) => /new (?:ConnectionError|TypeError)\(/.test(source))).toEqual([])
})

test('a connection error is explained by its own advice, otherwise by the hint of its code', () => {
  expect([client.brokenExportError(), client.endedError()].map(({ explained }) => explained)).toEqual([
    'the export broke off before its end. Export it again.',
    'the connection is closed. Connect again.',
  ])
})
