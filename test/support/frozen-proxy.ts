import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { onTestFinished } from 'vitest'

/** Forwards every connection to the port that it is given. */
const program = `
const { connect, createServer } = require('node:net')
const server = createServer((near) => {
  const far = connect(Number(process.argv[1]), '127.0.0.1')
  near.pipe(far).pipe(near)
  for (const [one, other] of [[near, far], [far, near]])
    one.on('error', () => other.destroy()).on('close', () => other.destroy())
})
server.listen(0, '127.0.0.1', () => console.log(server.address().port))
`

/** A proxy in a process of its own, which the kernel can stop: connections stay open and are taken, and nothing passes. */
export async function frozenProxy(port: number) {
  const child = spawn(process.execPath, ['-e', program, `${port}`], { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const [own] = (await once(createInterface(child.stdout), 'line')) as [string]
  return {
    url: `http://127.0.0.1:${own}`,
    freeze: (): void => void child.kill('SIGSTOP'),
    thaw: (): void => void child.kill('SIGCONT'),
  }
}
