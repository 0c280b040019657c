// Calls one method of an MCP server by an installed version of the official SDK, and prints the result as JSON.
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const [folder, address, request] = process.argv.slice(2)
const { url, token, command, args } = JSON.parse(address)
const { name, arguments: given } = JSON.parse(request)

const { resolve } = createRequire(join(folder, 'package.json'))
const load = (path) => import(pathToFileURL(resolve(`@modelcontextprotocol/sdk/client/${path}.js`)).href)

async function openTransport() {
  if (url === undefined) {
    const { StdioClientTransport } = await load('stdio')
    return new StdioClientTransport({ command, args, env: process.env })
  }
  const { StreamableHTTPClientTransport } = await load('streamableHttp')
  return new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: { authorization: `Bearer ${token}` } },
  })
}

const { Client } = await load('index')
const client = new Client({ name: 'test', version: '1' }, { capabilities: {} })
await client.connect(await openTransport())
const result =
  name === undefined ? await client.listTools() : await client.callTool({ name, arguments: given })
console.log(JSON.stringify(result))
await client.close()
