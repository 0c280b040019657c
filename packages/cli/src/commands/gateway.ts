import type { Command } from 'commander'
import type { RunFlags } from '../run/run.js'

const descriptions = {
  gateway: 'run the gateway alone',
  up: 'run the gateway, its tool servers and its programs',
} as const

/** `meup gateway` and `meup up`. What they need is loaded when they run: the other commands start faster without. */
export function addRunCommands(program: Command): void {
  for (const name of ['gateway', 'up'] as const) {
    program
      .command(name)
      .description(descriptions[name])
      .option('--config <file>', 'configuration', 'space.yaml')
      .option('--listen <host:port>', 'address to listen on instead of the configured one')
      .option('--json', 'print events and the log as JSON, one object a line')
      .option('--watch', 'reload when the configuration or a token changes, not only on SIGHUP')
      .option('--verbose', 'log everything, not only what goes wrong')
      .action(async (flags: RunFlags) => {
        const { run } = await import('../run/run.js')
        await run(name, flags)
      })
  }
}
