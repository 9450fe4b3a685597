import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startDynamoDbLocal } from '../../../sandbox/localstack/dynamodb-local.ts'
import { markdownTable } from '../figures.ts'
import { processorTime } from '../processor-time.ts'
import { startPostgres } from './programs.ts'

/**
 * `node proofs/bench/peers/postgres.ts [--seconds N] [--clients N]`: a charge as one transaction of PostgreSQL,
 * driven by pgbench, and the product's charge on DynamoDB Local, with the CPU of each.
 */

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '10' },
    clients: { type: 'string', default: '32' },
  },
})
const seconds = Number(values.seconds)
const clients = Number(values.clients)

type Result = { charges: number; seconds: number; cpu: Record<string, number> }

const print = process.stdout.write.bind(process.stdout)

/** Charges per CPU second are the charges per second of one core. */
const rowsOf = (name: string, { charges, seconds, cpu }: Result): string[][] =>
  Object.entries(cpu).map(([program, used]) => [
    name,
    program,
    (charges / seconds).toFixed(0),
    ((used / charges) * 1_000).toFixed(2),
    (charges / used).toFixed(0),
  ])

/** pgbench sends the SELECT as one prepared statement. */
const SCRIPT = String.raw`\set provider random(1, :providers)
\set customer random(1, 100000)
SELECT charge('provider-' || :provider, 'order-' || gen_random_uuid(), '+233' || :customer, 100, 5000000000000);
`

type Setting = { providers: number; commit: 'on' | 'off' }

const onPostgres = async (settings: readonly Setting[]): Promise<string[][]> => {
  const postgres = await startPostgres()
  const charge = ({ providers, commit }: Setting): Result => {
    const before = processorTime(postgres.pid)
    const args = ['-n', '-M', 'prepared', '-c', clients, '-j', 2, '-T', seconds, '-f', '-']
    const output = postgres.client(
      'pgbench',
      [...args.map(String), '-D', `providers=${providers}`, 'postgres'],
      { input: SCRIPT, env: { PGOPTIONS: `-c synchronous_commit=${commit}` } },
    )
    const [, charges] = /transactions actually processed: (\d+)/.exec(output) ?? []
    const [, perSecond] = /tps = ([\d.]+)/.exec(output) ?? []
    return {
      charges: Number(charges),
      seconds: Number(charges) / Number(perSecond),
      cpu: { PostgreSQL: processorTime(postgres.pid) - before },
    }
  }
  try {
    postgres.client('psql', ['-f', join(import.meta.dirname, 'charge.sql')])
    charge({ providers: 64, commit: 'off' })
    return settings.flatMap((setting) => {
      const { providers, commit } = setting
      const name = `PostgreSQL, ${providers} providers, synchronous_commit ${commit}`
      return rowsOf(name.replace('1 providers', '1 provider'), charge(setting))
    })
  } finally {
    await postgres.stop()
  }
}

/** The product's handler in this process, without HTTP, and its table in DynamoDB Local. */
const onDynamoDb = async (): Promise<string[][]> => {
  const { operate, prepare, setEnvironment } = await import('../fixture.ts')
  setEnvironment()
  const { call, chargeEvents } = await import('../requests.ts')
  const { charge: newCharge } = await import('../../../functions/provider/charge.ts')
  const { real } = await import('../../../shared/runtime.ts')
  const local = await startDynamoDbLocal()
  try {
    await prepare(local.endpoint)
    const limit = { provider: 'demo', operation: 'charge', 'per-minute': '1000000' }
    await operate({ noun: 'limit', verb: 'set', options: limit })
    const event = await chargeEvents()
    const handler = newCharge(real)
    let charges = 0
    const chargeFor = async (milliseconds: number): Promise<void> => {
      const end = performance.now() + milliseconds
      const client = async (): Promise<void> => {
        while (performance.now() < end) {
          charges += 1
          await call(handler, event(`order-2026-11-22-${charges}`), 202)
        }
      }
      await Promise.all(Array.from({ length: clients }, client))
    }
    await chargeFor(seconds * 500)
    const [first, start] = [charges, performance.now()]
    const [own, database] = [process.cpuUsage(), processorTime(local.pid)]
    await chargeFor(seconds * 1_000)
    const { user, system } = process.cpuUsage(own)
    return rowsOf('This service, 1 provider', {
      charges: charges - first,
      seconds: (performance.now() - start) / 1_000,
      cpu: {
        '`charge` and its SDK': (user + system) / 1_000_000,
        'DynamoDB Local': processorTime(local.pid) - database,
      },
    })
  } finally {
    await local.stop()
  }
}

const rows = [
  ...(await onPostgres([
    { providers: 1, commit: 'on' },
    { providers: 1, commit: 'off' },
    { providers: 64, commit: 'on' },
    { providers: 64, commit: 'off' },
  ])),
  ...(await onDynamoDb()),
]
const head = ['', 'CPU of', 'charges/s', 'CPU s per 1,000', 'charges/s per core']
print(`${markdownTable(head, rows).join('\n')}\n`)
