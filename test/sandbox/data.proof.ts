import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { printedBy, runScript, type StartedScript, useCommands } from '../support/commands.ts'
import { eventually } from '../support/eventually.ts'
import { newFolder } from '../support/folders.ts'
import { useReceiver } from '../support/receiver.ts'
import { CHARGE, chargeBody } from '../support/requests.ts'

/** The folder of `--data` keeps every acknowledged write, whenever the process is killed. */

const receiver = useReceiver()
const start = useCommands()
let data = ''
beforeEach(() => {
  data = newFolder()
})

const EVENTS = ['created', 'pending', 'processing', 'completed']

const words = () => ['commands/sandbox.ts', '--port', '0', '--time-scale', '30', '--data', data]
const addressOf = (sandbox: StartedScript) => printedBy(sandbox, /^ready (http:\S+)$/m)

const operate = async (address: string, ...command: string[]): Promise<unknown> => {
  const port = new URL(address).port
  return JSON.parse((await runScript(['commands/operator.ts', ...command, '--port', port])).stdout)
}

const DAY_MS = 86_400_000

const clockOf = async (address: string) => {
  const reply = await fetch(`${address}/sandbox/clock`)
  return ((await reply.json()) as { data: { now: string; frozen: boolean } }).data
}
const timeOf = async (address: string) => Date.parse((await clockOf(address)).now)

/** Charges until the sandbox stops to answer; returns the acknowledged references. */
const chargeWhileUp = async (address: string): Promise<string[]> => {
  const acknowledged: string[] = []
  const caller = async () => {
    const headers = { Authorization: 'Bearer sk_sandbox_demo', 'Content-Type': 'application/json' }
    for (;;) {
      const reply = await fetch(`${address}${CHARGE}`, {
        method: 'POST',
        headers,
        body: JSON.stringify(chargeBody({ amount: '1.00' })),
      })
      if (reply.status !== 202) return
      acknowledged.push(((await reply.json()) as { data: { reference: string } }).data.reference)
    }
  }
  await Promise.allSettled([caller(), caller(), caller(), caller()])
  return acknowledged
}

test('a sandbox that is killed four times loses no debit, no event and no setting', async () => {
  const all: string[] = []
  for (const milliseconds of [30, 80, 160, 250]) {
    const sandbox = start(words())
    const address = await addressOf(sandbox)
    if (all.length === 0) {
      await operate(address, 'webhook', 'set', '--provider', 'demo', '--url', receiver.url())
    }
    setTimeout(() => sandbox.child.kill('SIGKILL'), milliseconds)
    all.push(...(await chargeWhileUp(address)))
    await sandbox.exited
  }
  expect(all.length).toBeGreaterThan(0)
  await addressOf(start(words()))
  await eventually(() => {
    const received = new Set(
      receiver.received.map(({ body }) => `${body.data.transaction.reference} ${body.event}`),
    )
    const missing = all
      .flatMap((reference) => EVENTS.map((event) => `${reference} transaction.${event}`))
      .filter((event) => !received.has(event))
    expect(missing).toEqual([])
  })
}, 120_000)

test.each([
  ['at its start', 30, false],
  ['after some charges', 200, true],
  ['after more charges', 301, true],
])(
  'a sandbox whose disk is full %s prints one line, exits with 1, and loses no acknowledged debit',
  async (_, blocks, isUp) => {
    // A limit of a file's size cuts a write as a full disk does.
    const command = ['-c', `ulimit -f ${blocks}; exec "$0" "$@"`, process.execPath, ...words()]
    const env = { ...process.env, NODE_DISABLE_COMPILE_CACHE: '1' }
    const full = start(command, env, 'sh')
    const acknowledged = isUp ? await chargeWhileUp(await addressOf(full)) : []
    expect(await full.exited).toBe(1)
    expect(full.printed.err).toMatch(/^[^\n]+ cannot keep the data: EFBIG: [^\n]+\n$/)
    expect(acknowledged.length > 0).toBe(isUp)
    const port = ['--port', new URL(await addressOf(start(words()))).port]
    for (const reference of acknowledged) {
      const show = ['commands/operator.ts', 'debit', 'show', '--reference', reference, ...port]
      expect(await runScript(show)).toMatchObject({ code: 0 })
    }
  },
)

test.each(['SIGKILL', 'SIGTERM'] as const)(
  'a sandbox that ends by %s while its clock moves continues at or after the time that it showed',
  async (signal) => {
    const first = start(words())
    const address = await addressOf(first)
    const before = await timeOf(address)
    const moved = fetch(`${address}/sandbox/clock`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ advance: '366d' }),
    }).catch(() => undefined)
    const shown = await eventually(async () => {
      const now = await timeOf(address)
      expect(now).toBeGreaterThan(before + DAY_MS)
      return now
    })
    first.child.kill(signal)
    await Promise.all([first.exited, moved])
    const { now, frozen } = await clockOf(await addressOf(start(words())))
    const later = Date.parse(now)
    expect(frozen).toBe(false)
    expect(later).toBeGreaterThanOrEqual(shown)
    expect(later).toBeLessThan(before + 366 * DAY_MS)
  },
)

test('only the owner can read the state', async () => {
  const folder = join(data, 'state')
  await addressOf(start([...words().slice(0, -1), folder]))
  const modes = [folder, join(folder, 'journal.jsonl')].map((path) => statSync(path).mode & 0o777)
  expect(modes).toEqual([0o700, 0o600])
})

test.each(['', '0', '-1'])(
  'a folder whose start was killed before it wrote its id is free: "%s"',
  async (id) => {
    writeFileSync(join(data, 'sandbox.pid'), id)
    await addressOf(start(words()))
  },
)

test('an incomplete last line is ignored, and a second sandbox is refused', async () => {
  const first = start(words())
  await addressOf(first)
  const { code, stderr } = await runScript(words())
  expect([code, stderr]).toEqual([1, `${data} is in use by process ${first.child.pid}\n`])
  first.child.kill('SIGKILL')
  await first.exited
  const journal = join(data, 'journal.jsonl')
  writeFileSync(journal, `${readFileSync(journal, 'utf8')}{"changes":[{"seq`)
  const address = await addressOf(start(words()))
  expect(await operate(address, 'provider', 'show', '--provider', 'demo')).toMatchObject({
    id: 'demo',
  })
})

test('a sandbox that is killed while it writes its seeds starts with all of them', async () => {
  const first = start(words())
  const journal = join(data, 'journal.jsonl')
  await eventually(() => expect([journal, `${journal}.next`].some(existsSync)).toBe(true))
  first.child.kill('SIGKILL')
  await first.exited
  const address = await addressOf(start(words()))
  expect(await operate(address, 'provider', 'list')).toHaveLength(4)
  expect(await operate(address, 'credential', 'list', '--bank', 'GCB')).toHaveLength(1)
})

test('a sandbox without debits keeps its settings, and a reset removes them', async () => {
  const first = start(words())
  const created = ['--provider', 'kept', '--name', 'Kept']
  await operate(await addressOf(first), 'provider', 'create', ...created)
  first.child.kill('SIGKILL')
  await first.exited
  const second = start(words())
  const address = await addressOf(second)
  expect(await operate(address, 'provider', 'list')).toHaveLength(5)
  await fetch(`${address}/sandbox/reset`, { method: 'POST' })
  second.child.kill('SIGKILL')
  await second.exited
  const restarted = await addressOf(start(words()))
  expect(await operate(restarted, 'provider', 'list')).toHaveLength(4)
})

const seesZombies = test.runIf(existsSync('/proc/self/status'))

seesZombies('a killed sandbox that its parent has not reaped keeps no folder', async () => {
  // The shell becomes a program that never reaps its child.
  const parent = start(['-c', 'sleep 0.1 & echo "child $!"; exec sleep 60'], process.env, 'sh')
  const child = await printedBy(parent, /^child (\d+)$/m)
  await eventually(() => expect(readFileSync(`/proc/${child}/status`, 'utf8')).toMatch('zombie'))
  writeFileSync(join(data, 'sandbox.pid'), child)
  await addressOf(start(words()))
})

test('a damaged line of the journal gives one line and exit code 1', async () => {
  const journal = join(data, 'journal.jsonl')
  const damaged = [
    '{"item":',
    'null',
    '[1]',
    '{"unknown":{}}',
    '{"changes":7}',
    '{"sent":{"queue":"other"}}',
  ]
  for (const line of damaged) {
    writeFileSync(journal, `{"handled":[]}\n${line}\n`)
    const { code, stderr } = await runScript(words())
    const problem = `${journal} is damaged at or before line 2: delete the folder to start with the seeds`
    expect([code, stderr]).toEqual([1, `${problem}\n`])
  }
}, 60_000)

test('a folder that cannot be written gives one line and exit code 1', async () => {
  const file = join(data, 'file')
  writeFileSync(file, '')
  // Node's own mkdir never returns below /proc.
  for (const folder of [file, join(file, 'below'), '/proc/x/below']) {
    const { code, stderr } = await runScript([...words().slice(0, -1), folder])
    expect([folder, code, stderr.split('\n').length]).toEqual([folder, 1, 2])
    expect(stderr).toContain('cannot keep the data')
  }
})
