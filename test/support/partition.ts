import { execFileSync } from 'node:child_process'
import { onTestFinished } from 'vitest'

const run = (command: string): void => {
  const [program = '', ...args] = command.split(' ')
  execFileSync(program, args, { stdio: 'pipe' })
}

/** Whether a test may create network namespaces on this machine. */
export function canPartition(): boolean {
  const name = `meup-can-${process.pid}`
  try {
    run(`ip netns add ${name}`)
    run(`ip netns del ${name}`)
    return true
  } catch {
    return false
  }
}

/**
 * Makes a network namespace for one program, until the test ends. The program reaches the host at `servers.host`, a connection
 * that can be cut; the host reaches the program at `clients.inside`, which stays up.
 */
export function makeNetwork() {
  const id = process.pid % 100_000
  const space = `meup-${id}`
  const octet = 1 + (process.pid % 250)
  run(`ip netns add ${space}`)
  onTestFinished(() => run(`ip netns del ${space}`))
  const link = (letter: string, third: number) => {
    const [outer, inner] = [`m${letter}o${id}`, `m${letter}i${id}`]
    const [host, inside] = [`10.${octet}.${third}.1`, `10.${octet}.${third}.2`]
    run(`ip link add ${outer} type veth peer name ${inner} netns ${space}`)
    run(`ip addr add ${host}/24 dev ${outer}`)
    run(`ip link set ${outer} up`)
    run(`ip netns exec ${space} ip addr add ${inside}/24 dev ${inner}`)
    run(`ip netns exec ${space} ip link set ${inner} up`)
    return { host, inside, set: (state: 'up' | 'down') => run(`ip link set ${outer} ${state}`) }
  }
  run(`ip netns exec ${space} ip link set lo up`)
  return { through: ['ip', 'netns', 'exec', space], servers: link('s', 77), clients: link('c', 78) }
}
