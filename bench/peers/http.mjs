import { createServer } from 'node:http'

/** A minimal HTTP server: the path says how many bytes it answers. */
const server = createServer(({ url = '/' }, response) => {
  response.setHeader('content-type', 'application/json')
  response.end('a'.repeat(Number(url.slice(1))))
})
server.listen(0, '127.0.0.1', () => console.log(JSON.stringify(server.address())))
