import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { DeleteCommand } from '@aws-sdk/lib-dynamodb'
import { type BundleTrio, buildBesideSdk } from '../../infra/bundles/compare-with-sdk.ts'
import { type Cold, coldStart, handled, sent } from '../cold.ts'
import { type Command, commandOf } from '../documents.ts'
import { beside, type Figure, ratioOf } from '../figures.ts'
import { openGround, setEnvironment } from '../ground.ts'
import type { Measure } from '../part.ts'
import { asked, chargeEvents, sampleEvent } from '../requests.ts'
import { median } from '../samples.ts'
import { recordCalls } from '../wire.ts'

/**
 * A cold start of what is deployed: import and first call in a fresh Node, beside the AWS SDK bundled
 * alone, as it comes, which makes the same calls; and the size of both files.
 */

const FOLDER = join(import.meta.dirname, '../../dist/bench')

setEnvironment()
const { handler: chargeHandler } = await import('../../functions/provider/charge.ts')
const { handler: statusHandler } = await import('../../functions/provider/get-debit-request.ts')
const { table } = await import('../../shared/store/table.ts')

type Put = { Put?: { TableName: string; Item: { pk: string; sk: string } } }

/** What is new in a transaction is removed, so that it can be new again. */
const forget = async (commands: readonly Command[]): Promise<void> => {
  const puts = commands.flatMap(
    ({ input }) => (input as { TransactItems?: Put[] }).TransactItems ?? [],
  )
  for (const { Put } of puts) {
    if (!Put) continue
    const { pk, sk } = Put.Item
    await table.send(new DeleteCommand({ TableName: Put.TableName, Key: { pk, sk } }))
  }
}

type Start = { own: () => Promise<Cold>; base: () => Promise<Cold>; between: () => Promise<void> }

/** Both at their first call; this process made it before, to see what is called. */
const startsOf = async (trios: readonly BundleTrio[]): Promise<Record<string, Start>> => {
  const event = await chargeEvents()
  const chargeCalls = await recordCalls(() => asked(chargeHandler, event('first'), 202))
  const charged = await asked(chargeHandler, event('second'), 202)
  const { reference } = JSON.parse(charged.body).data
  const status = { ...(await sampleEvent('get-debit-request')), pathParameters: { reference } }
  const statusCalls = await recordCalls(() => asked(statusHandler, { ...status }, 200))
  // The first of the two read the credential for both, which a fresh function reads itself.
  const credential = chargeCalls.filter(({ operation }) => operation === 'GetItem')
  const commands = {
    charge: chargeCalls.map(commandOf),
    'get-debit-request': [...credential, ...statusCalls].map(commandOf),
  }
  let n = 0
  const fileOf = (name: string, which: 'ours' | 'sdk'): string =>
    trios.find((trio) => trio.name === name)?.[which] ?? ''
  const start = (name: keyof typeof commands, own: () => string): Start => ({
    own: () => coldStart(fileOf(name, 'ours'), own()),
    base: () => coldStart(fileOf(name, 'sdk'), sent(commands[name])),
    between: () => forget(commands[name]),
  })
  return {
    charge: start('charge', () => {
      n += 1
      return handled(event(`cold-${n}`), 202)
    }),
    'get-debit-request': start('get-debit-request', () => handled(status, 200)),
  }
}

const coldFigures = async (name: string, start: Start, rounds: number) => {
  const own: Cold[] = []
  const base: Cold[] = []
  // The first of each also warms the disk.
  for (let round = -1; round < rounds; round += 1) {
    await start.between()
    const [one, other] = [await start.own(), await start.base()]
    if (round < 0) continue
    own.push(one)
    base.push(other)
  }
  return { [`cold ${name}`]: beside(own, base, ({ whole }) => whole) } satisfies Record<
    string,
    Figure
  >
}

const kilobytes = async (file: string): Promise<number> => (await stat(file)).size / 1_000

/** Import alone, of every function; those of one kind are a row of their median. */
const sizeNotes = async (trios: readonly BundleTrio[]) => {
  const sizes = await Promise.all(
    trios.map(async ({ name, ours, sdk }) => ({
      name,
      ...ratioOf(await kilobytes(ours), await kilobytes(sdk)),
    })),
  )
  const ratios = sizes.map(({ ratio }) => ratio.median)
  const [largest] = sizes.toSorted((a, b) => b.ratio.median - a.ratio.median)
  return {
    sizes,
    notes: [
      '',
      `Of all ${sizes.length} functions, the median bundle is ${median(ratios).toFixed(2)} times the SDK alone; the largest ratio is that of \`${largest?.name}\`, ${largest?.ratio.median.toFixed(2)}. \`npm run size\` prints them all, with the import of each.`,
    ],
  }
}

/** A fresh process differs more from the next than a warm one does. */
const STARTS_PER_ROUND = 3

export const measure: Measure = async ({ rounds, short }) => {
  const trios = await buildBesideSdk(FOLDER)
  const { sizes, notes } = await sizeNotes(trios)
  const ground = await openGround()
  try {
    const figures: Record<string, Figure> = {}
    for (const [name, start] of Object.entries(await startsOf(trios))) {
      const size = sizes.find((one) => one.name === name)
      if (size) figures[`size ${name}`] = size
      Object.assign(
        figures,
        await coldFigures(name, start, short ? rounds : rounds * STARTS_PER_ROUND),
      )
    }
    return { figures, notes }
  } finally {
    await ground.stop()
  }
}
