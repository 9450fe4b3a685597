import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import {
  expectOneLine,
  printedBy,
  runScript,
  type StartedScript,
  useCommands,
} from '../support/commands.ts'
import { eventually } from '../support/eventually.ts'
import { newFolder } from '../support/folders.ts'

const start = useCommands()
const startSandbox = (args: string[], env?: NodeJS.ProcessEnv) =>
  start(['commands/sandbox.ts', ...args], env)

const readyPort = (sandbox: StartedScript): Promise<string> =>
  printedBy(sandbox, /^ready http:\/\/127\.0\.0\.1:([0-9]+)$/m)

const operatorAt =
  (port: string) =>
  (args: string[], env = process.env) =>
    runScript(['commands/operator.ts', ...args, '--port', port], env)

const childrenOf = (pid: number): number[] =>
  execFileSync('ps', ['-A', '-o', 'ppid=,pid='], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number))
    .flatMap(([parent, child = 0]) => (parent === pid ? [child] : []))

const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

test('the command prints ready and a first curl, serves the commands, and stops on SIGTERM', async () => {
  const sandbox = startSandbox(['--port', '0', '--time-scale', '30'])
  const { child, printed, exited } = sandbox
  const port = await readyPort(sandbox)
  expect(printed.out).toContain('sk_sandbox_demo')
  expect(printed.out).toContain(`curl -s http://127.0.0.1:${port}/api/v1/payment-providers`)
  const operator = operatorAt(port)
  const { stdout } = await operator(['provider', 'show', '--provider', 'demo'])
  expect(JSON.parse(stdout)).toMatchObject({ id: 'demo', daily_limit: '50000.00' })
  expectOneLine(await operator(['provider', 'show', '--provider', 'nobody']), 'no such provider')
  // As on a terminal without a size.
  const narrow = ['--import', 'data:text/javascript,process.stdout.columns=0']
  const table = ['commands/operator.ts', 'bank', 'list', '--output', 'table', '--port', port]
  expect((await runScript([...narrow, ...table])).stdout).toMatch(/^identifier +name /)
  const misnamed = { ...process.env, OPERATOR_NAME: 'Ama Mensah' }
  const refusal = 'the name of an operator (OPERATOR_NAME) must have'
  expectOneLine(await operator(['provider', 'list'], misnamed), refusal)
  const refused = await runScript(['commands/sandbox.ts', '--port', '0'], misnamed)
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining(refusal)])
  const charge = ['commands/invoke.ts', 'charge', 'events/charge.json', '--port', port]
  expect(JSON.parse((await runScript(charge)).stdout)).toMatchObject({ statusCode: 202 })
  const customer = ['commands/invoke.ts', 'manage-customer', '--port', port]
  await runScript(customer, { ...process.env, OPERATOR_NAME: 'ama' })
  const changes = await operator(['change', 'list'])
  expect(JSON.parse(changes.stdout)[0]).toMatchObject({ noun: 'customer', by: 'local:ama' })
  const reconciled = await operator(['reconcile', '--date', '2026-11-21'])
  expect(JSON.parse(reconciled.stdout)).toMatchObject({ date: '2026-11-21', differences: 0 })
  child.kill('SIGTERM')
  expect(await exited).toBe(0)
}, 60_000)

test.each([
  ['npm', 'SIGINT', 1],
  ['npm', 'SIGTERM', 1],
  ['its process group', 'SIGINT', -1],
  ['its process group', 'SIGTERM', -1],
] as const)(
  '`npm run sandbox` exits with 0 when %s gets %s',
  async (_, signal, sign) => {
    const sandbox = start(['run', '-s', 'sandbox', '--', '--port', '0'], process.env, 'npm')
    const port = await readyPort(sandbox)
    process.kill(sign * Number(sandbox.child.pid), signal)
    expect(await sandbox.exited).toBe(0)
    await expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow('fetch failed')
  },
  30_000,
)

test('the command plays scenarios by the trigger command and applies fixture files', async () => {
  const port = await readyPort(startSandbox(['--port', '0']))
  const run = (...words: string[]) => runScript([...words, '--port', port])
  expect((await run('commands/trigger.ts')).stdout).toMatch(/^failed-timeout {2,}The bank reports/m)
  const { stdout } = await run('commands/trigger.ts', 'completed')
  expect(JSON.parse(stdout)).toMatchObject({ status: 'completed' })
  const { reference } = JSON.parse(stdout)
  const again = await run('commands/trigger.ts', 'completed', '--debit', reference)
  expectOneLine(again, 'Validation failed (1007): reference is completed; it must be pending or')
  expectOneLine(
    await run('commands/trigger.ts', 'complete'),
    'unknown scenario complete; did you mean completed?',
    2,
  )
  expect((await run('commands/trigger.ts', 'one', 'two')).code).toBe(2)
  for (const words of ['advance 5x', 'to tomorrow', 'show now', 'advance']) {
    const { code, stdout } = await run('commands/clock.ts', ...words.split(' '))
    expect([words, code, stdout]).toEqual([words, 2, ''])
  }
  const applied = await run('commands/fixtures.ts', 'apply', 'docs/fixtures/shop.yaml')
  expect(applied).toMatchObject({ code: 0, stderr: '' })
  expect(applied.stdout).toMatch(/^1 operator provider create: done\n2 operator credential issue/)
  const twice = await run('commands/fixtures.ts', 'apply', 'docs/fixtures/shop.yaml')
  expectOneLine(twice, 'shop.yaml: step 1: operator provider create: this provider already exists')
  const malformed = await run('commands/fixtures.ts', 'apply', 'docs/testing.md')
  expect(malformed).toMatchObject({ code: 2, stdout: '' })
  expect((await run('commands/fixtures.ts', 'apply')).code).toBe(2)
}, 60_000)

test('the option --approvals lets a second operator approve the call of the first', async () => {
  const run = operatorAt(await readyPort(startSandbox(['--port', '0', '--approvals'])))
  const operator = (name: string, ...args: string[]) =>
    run(args, { ...process.env, OPERATOR_NAME: name })
  const requested = await operator('ama', 'bank', 'update', '--bank=GCB', '--connector=none')
  const { approval } = JSON.parse(requested.stdout)
  expect(approval).toMatchObject({ status: 'pending', requested_by: 'local:ama' })
  const grant = ['approval', 'grant', '--id', approval.id]
  const line = 'the requester cannot grant: a second operator is required'
  expectOneLine(await operator('ama', ...grant), line)
  const { stdout } = await operator('kofi', ...grant)
  expect(JSON.parse(stdout)).toMatchObject({ identifier: 'GCB', connector: 'none' })
}, 60_000)

test.each(['SIGTERM', 'SIGKILL'] as const)(
  'the option --bundles runs bundles in processes, also after approvals start, until %s',
  async (signal) => {
    // A killed sandbox leaves its bundles.
    const TMPDIR = newFolder()
    const env = { ...process.env, TMPDIR }
    const sandbox = startSandbox(['--port', '0', '--bundles', '--approvals'], env)
    const { child, exited } = sandbox
    const port = await readyPort(sandbox)
    const charge = ['commands/invoke.ts', 'charge', 'events/charge.json', '--port', port]
    expect(JSON.parse((await runScript(charge)).stdout)).toMatchObject({ statusCode: 202 })
    const update = ['bank', 'update', '--bank=GCB', '--connector=none']
    const { stdout } = await operatorAt(port)(update)
    expect(JSON.parse(stdout).approval).toMatchObject({ status: 'pending' })
    const processes = childrenOf(Number(child.pid))
    expect(processes.length).toBeGreaterThan(1)
    child.kill(signal)
    expect(await exited).toBe(signal === 'SIGTERM' ? 0 : null)
    await eventually(() => expect(processes.filter(isRunning)).toEqual([]))
    expect(readdirSync(TMPDIR)).toHaveLength(signal === 'SIGTERM' ? 0 : 1)
  },
  120_000,
)

test.each([[[]], [['--bundles']]])(
  'the command prints one line for a fault of a function, and its stack with --verbose, with %j',
  async (options) => {
    const records = [{ messageId: 'm1', body: 'x', eventSource: 'aws:sqs', attributes: {} }]
    const faultsOf = async (...extra: string[]): Promise<string[]> => {
      const env = { ...process.env, AWS_LAMBDA_LOG_LEVEL: 'ERROR' }
      const sandbox = startSandbox(['--port', '0', ...options, ...extra], env)
      const port = await readyPort(sandbox)
      const invoke = (name: string, event: object) =>
        fetch(`http://127.0.0.1:${port}/2015-03-31/functions/${name}/invocations`, {
          method: 'POST',
          body: JSON.stringify(event),
        })
      // The function reports the first fault, and throws the second.
      await invoke('submit-to-bank', { Records: records })
      await invoke('deliver-webhook', {})
      sandbox.child.kill('SIGTERM')
      await sandbox.exited
      return sandbox.printed.err.trimEnd().split('\n')
    }
    const line = (text: string) =>
      expect.stringMatching(new RegExp(`^[0-9:.]{12} fault    ${text}`))
    const faults = [
      line('submit-to-bank Error: Malformed message queue=submissions message_id=m1$'),
      line('deliver-webhook UnexpectedBatchTypeError: Unexpected batch type\\.'),
    ]
    expect(await faultsOf()).toEqual(faults)
    const verbose = await faultsOf('--verbose')
    expect(verbose).toEqual(expect.arrayContaining(faults))
    expect(verbose).toContainEqual(expect.stringMatching(/^ {15}at /))
  },
  120_000,
)

test.each([
  ['fixtures -- apply fixtures/shop.yaml', 'npm run -s sandbox'],
  ['invoke -- charge ../events/charge.json', 'npm run -s sandbox'],
  ['debit -- invoke charge ../events/charge.json', 'npm run -s debit -- sandbox'],
])(
  'the script `npm run -s %s` in a folder reads its file and names `%s`',
  async (words, script) => {
    // A cache of npm in the folder would make it a project.
    const line = `cd docs && NODE_COMPILE_CACHE= npm run -s ${words} --port 2`
    const { exited, printed } = start(['-c', line], process.env, 'sh')
    expect(await exited).toBe(1)
    expect(printed.err).toMatch(`No sandbox answers at port 2: start it with ${script}\n`)
  },
)

test('`debit invoke` without a sandbox prints a line and exits with 1', async () => {
  const result = await runScript(['commands/invoke.ts', 'charge', '--port', '1'])
  expectOneLine(result, 'No sandbox answers at port 1: start it with debit sandbox', 1)
})
