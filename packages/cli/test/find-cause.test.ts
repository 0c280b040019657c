import { expect, test } from 'vitest'
import { findCause } from '../src/run/find-cause.js'

test.for<[name: string, stderr: string, cause: string | undefined]>([
  [
    'a syntax error that tsx reports',
    `/srv/demo/node_modules/esbuild/lib/main.js:1477
  let error = new Error(text);
              ^

TransformError: Transform failed with 1 error:
/srv/demo/agent.ts:22:0: ERROR: Expected ")" but found end of file
    at failureErrorWithLog (/srv/demo/node_modules/esbuild/lib/main.js:1477:15)

Node.js v20.20.2`,
    'agent.ts:22:0: Expected ")" but found end of file',
  ],
  [
    'a syntax error that Node.js reports',
    `file:///srv/demo/lib/agent.mjs:3
)
^

SyntaxError: Unexpected token ')'
    at compileSourceTextModule (node:internal/modules/esm/utils:346:16)

Node.js v20.20.2`,
    "lib/agent.mjs:3: SyntaxError: Unexpected token ')'",
  ],
  [
    'an error that was not caught',
    `file:///srv/demo/agent.mjs:4
await using space = await conect()
                          ^

ReferenceError: conect is not defined
    at file:///srv/demo/agent.mjs:4:27`,
    'agent.mjs:4:27: ReferenceError: conect is not defined',
  ],
  [
    'an error of a package, at the line that called it',
    `/srv/demo/node_modules/sdk/connect.js:9
Error: at start
    at connect (/srv/demo/node_modules/sdk/connect.js:9:9)
    at async main (/srv/demo/src/agent.ts:10:17)
    at async file:///srv/demo/agent.ts:4:1`,
    'src/agent.ts:10:17: Error: at start',
  ],
  [
    'an error in packages alone',
    'Error: at start\n    at node:internal/main:1:1\n    at /opt/tool/index.js:3:1',
    'Error: at start',
  ],
  [
    'an error with a code',
    "Error [ERR_MODULE_NOT_FOUND]: Cannot find module '/srv/demo/a.js'\n    at x {\n  code: 'E'\n}",
    "Error [ERR_MODULE_NOT_FOUND]: Cannot find module 'a.js'",
  ],
  [
    'a missing module, named with the folder of its importer',
    "Error [ERR_MODULE_NOT_FOUND]: Cannot find module '/srv/demo/agent.ts' imported from /srv/demo/\n    at x",
    "Error [ERR_MODULE_NOT_FOUND]: Cannot find module 'agent.ts' imported from ./",
  ],
  [
    'an exception of Python',
    'Traceback (most recent call last):\n  File "/srv/demo/a.py", line 1, in <module>\n  File "/usr/lib/python3/json/decoder.py", line 340, in decode\njson.decoder.JSONDecodeError: Extra data',
    'a.py:1: json.decoder.JSONDecodeError: Extra data',
  ],
  ['nothing', 'listening on http://127.0.0.1:80\nError handling is on', undefined],
])('%s is found in the last lines of stderr', ([, stderr, cause]) => {
  expect(findCause(stderr.split('\n'), '/srv/demo')).toBe(cause)
})
