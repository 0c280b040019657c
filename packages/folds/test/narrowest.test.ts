import { getNarrowestCapability } from '@meup/folds'
import { compileCapabilities } from '@meup/protocol'
import { describe, expect, test } from 'vitest'

const call = (name: string) => ({
  kind: 'mcp.request',
  to: ['files'],
  payload: { method: 'tools/call', params: { name } },
})

describe('the narrowest capability for a call', () => {
  test.for(['read', '*', 're:.*', '!read', 'a\\b', '/a/', 'dir/read?'])(
    'allows %s and no other tool',
    (name) => {
      const capabilities = compileCapabilities([getNarrowestCapability(call(name))])
      const allowed = [name, 'other', 'xread', ''].filter((each) => capabilities.allows(call(each)).allowed)
      expect(allowed).toEqual([name])
    },
  )
})
