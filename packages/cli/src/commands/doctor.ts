import type { Command } from 'commander'
import { withConnection } from '../connection.js'
import type { DoctorFlags } from '../operator/doctor.js'

/** `meup doctor`. What it needs is loaded when it runs. */
export function addDoctor(program: Command): void {
  withConnection(program.command('doctor'), 'print one JSON object')
    .description('show every setting and where it comes from, then find what is wrong here')
    .option('--config <file>', 'configuration (default: space.yaml)')
    .option('--listen <host:port>', 'address to listen on instead of the configured one')
    .addHelpText('after', '\nIt changes nothing. Exits with 1 when something is wrong.')
    .action(async (flags: DoctorFlags) => {
      const { doctor } = await import('../operator/doctor.js')
      await doctor(flags)
    })
}
