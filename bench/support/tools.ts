import { Type } from '@sinclair/typebox'

/** 50 tools like those of many MCP servers. */
export const tools = Array.from({ length: 50 }, (_, i) => ({
  name: `tool_${i}`,
  description: `Reads lines of a file below folder ${i}, beginning at an offset`,
  input: Type.Object({
    path: Type.String({ description: 'Where the file is, from the folder on' }),
    offset: Type.Optional(Type.Integer({ minimum: 0, description: 'The first line' })),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 2000 })),
  }),
}))
export const result = 'the report of the tests says that all is well'
