import { spawn } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from '@meup/agent-sdk'
import { TranscriptFile } from '@meup/agent-sdk/transcript/file'
import { expect, onTestFinished, test, vi } from 'vitest'
import { commandLine, spawnMeup, startMeup, temporaryFolder } from '../support/cli.js'

vi.setConfig({ testTimeout: 180_000 })

const within = { timeout: 40_000, interval: 25 }
const config = `
version: 1
space: demo
gateway: { listen: "127.0.0.1:0" }
participants:
  ana: { kind: human, capabilities: ["*", "observe.targeted", "space.erase"] }
  ben: { kind: agent }
`

/** Exit code after SIGPIPE, in the shell's notation: 128 + 13. */
const brokenPipe = 141

/** Value of `reader` for `pipe`: the reader has closed the pipe before `meup` starts. */
const gone = 'gone'

/** Pipes the output of `meup` into another program. Resolves with the exit code of `meup`, and the output of both. */
function pipe(args: string, reader: string, cwd: string) {
  const program = commandLine(args)
  const line =
    reader === gone
      ? `mkfifo left && { read -r < left; rm left; ${program}; } | { exec <&-; echo > left; }; exit \${PIPESTATUS[0]}`
      : `${program} | ${reader}; exit \${PIPESTATUS[0]}`
  const child = spawn('bash', ['-c', line], { cwd })
  onTestFinished(() => void child.kill('SIGKILL'))
  let [stdout, stderr] = ['', '']
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk
  })
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk
  })
  return new Promise<{ code: number | null; stdout: string; stderr: string }>((resolve) =>
    child.on('close', (code) => resolve({ code, stdout, stderr })),
  )
}

test('every command whose reader has gone ends quietly', async () => {
  const cwd = temporaryFolder({ 'space.yaml': config })
  const folder = join(cwd, '.meup/transcripts')
  mkdirSync(folder, { recursive: true })
  const transcript = await TranscriptFile.open(join(folder, 'ben.db'))
  const metadata = { at: new Date().toISOString(), turn: 't' }
  transcript.append([{ content: { content_type: 'assistant', text: 'Yes.' }, metadata }])
  transcript.close()
  await startMeup('gateway', cwd)
  const ana = await connect({ as: 'ana', directory: cwd })
  await ana.chat('hello')
  await ana.close()
  const commands = [
    '--help',
    'completion bash',
    'space validate',
    'doctor',
    'token list',
    'stats',
    'caps ls',
    'watch --from 1',
    'watch --from 1 --no-follow --json',
    'search hello',
    'send hello --json',
    'audit export',
    'transcript log',
    'add x https://x.example --json',
  ]
  for (const command of commands)
    expect(await pipe(command, gone, cwd), command).toEqual({ code: brokenPipe, stdout: '', stderr: '' })
})

test('a reader that has seen enough ends watch', async () => {
  const cwd = temporaryFolder({ 'space.yaml': config })
  await startMeup('gateway', cwd)
  const ana = await connect({ as: 'ana', directory: cwd })
  onTestFinished(() => ana.close())
  const watching = pipe('watch --json --from 1', 'head -1', cwd)
  let over = false
  void watching.then(() => {
    over = true
  })
  // `meup watch` notices the closed pipe only when it prints another line.
  await vi.waitFor(async () => {
    await ana.chat('anybody?')
    expect(over).toBe(true)
  }, within)
  const { code, stdout, stderr } = await watching
  expect([code, stderr]).toEqual([brokenPipe, ''])
  expect(JSON.parse(stdout)).toMatchObject({ seq: 1, kind: 'system.space' })
})

test('a gateway whose events nobody reads any more closes in order', async () => {
  const cwd = temporaryFolder({ 'space.yaml': config })
  const { code, stderr } = await pipe('up --json', gone, cwd)
  expect([code, stderr]).toEqual([brokenPipe, ''])
  expect(existsSync(join(cwd, '.meup/gateway.json'))).toBe(false)
})

test('a gateway goes on when nobody reads any more what it says', async () => {
  const cwd = temporaryFolder({ 'space.yaml': config })
  const gateway = spawnMeup(['gateway'], cwd)
  await vi.waitFor(() => expect(gateway.said.stderr).toContain('listening'), within)
  gateway.process.stderr.destroy()
  gateway.process.kill('SIGHUP') // The gateway reloads, and logs to the closed stderr.
  const ana = await connect({ as: 'ana', directory: cwd })
  await ana.chat('still there?')
  await ana.close()
  gateway.process.kill('SIGTERM')
  expect(await gateway.ended).toBe(0)
  expect(existsSync(join(cwd, '.meup/gateway.json'))).toBe(false)
})
