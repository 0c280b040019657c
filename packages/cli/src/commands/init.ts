import type { Command } from 'commander'
import type { InitFlags } from '../init/init.js'

/** `meup init`: from an empty folder to a space with a first agent. What it needs is loaded when it runs. */
export function addInit(program: Command): void {
  program
    .command('init')
    .description('write a space with a first agent, a tool and tokens into a folder; never over another one')
    .argument('[folder]', 'where; it is made if need be', '.')
    .option('--space <name>', 'name of the space (default: that of the folder)')
    .option('--person <name>', 'your name in it (default: as you are logged in)')
    .option('--agent <name>', 'name of the agent (default: reviewer)')
    .option('--listen <host:port>', 'where it listens (default: 127.0.0.1, the first free port from 8080 on)')
    .option('--yes', 'ask nothing; so it is where nobody sits at a terminal')
    .option('--json', 'print one JSON object, and ask nothing')
    .action(async (folder: string, flags: InitFlags) => {
      const { init } = await import('../init/init.js')
      await init(folder, flags)
    })
}
