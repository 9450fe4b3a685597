import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { CreateTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { buildBundles, bundleFile, everyFunction, lean } from '../../infra/bundles/build.ts'
import { asItComes } from '../../infra/bundles/sdk-baseline.ts'
import { type Cold, coldStart, handled } from '../cold.ts'
import { beside, type Figure, ratioOf } from '../figures.ts'
import { openGround, setEnvironment } from '../ground.ts'
import type { Measure } from '../part.ts'
import { asked, chargeEvents, type Handler, hurriedClock } from '../requests.ts'
import { at, cpuEach, inTurns, perSecond, type Work } from '../samples.ts'
import { countUnits, isWrite, type SentCommand, tapSends } from '../sends.ts'

/** Our charge beside one that is built the usual way, on the same table, in turns. */

const REQUESTS = 250
const REQUESTS_ALONE = 2_000
const CHUNK = 50
/** A fresh process differs more from the next than a warm one does. */
const STARTS_PER_ROUND = 2
const IDEMPOTENCY = 'bench-idempotency'
const FOLDER = join(import.meta.dirname, '../../dist/bench/peer')

setEnvironment()
process.env.IDEMPOTENCY_TABLE_NAME = IDEMPOTENCY
const { charge } = await import('../../functions/provider/charge.ts')
const peer = await import('../peers/charge.ts')

const createIdempotencyTable = async (endpoint: string): Promise<void> => {
  const client = new DynamoDBClient({ endpoint })
  await client.send(
    new CreateTableCommand({
      TableName: IDEMPOTENCY,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
      KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
    }),
  )
  client.destroy()
}

type Works = Record<'own' | 'usual', Work>

const workOf = async (name: string, handler: Handler): Promise<Work> => {
  const event = await chargeEvents()
  return (n) => asked(handler, event(`${name}-${n}`), 202)
}

const underLoad = async (works: Works, rounds: number, count: number) => {
  const plan = { rounds, count, chunk: CHUNK }
  await inTurns(works, { ...plan, rounds: 1, together: 8 })
  const single = await inTurns(works, { ...plan, together: 1 })
  const crowd = await inTurns(works, { ...plan, together: 8 })
  return {
    'peer p50': beside(single.own, single.usual, at(0.5)),
    'peer p99': beside(single.own, single.usual, at(0.99)),
    'peer throughput': beside(crowd.own, crowd.usual, perSecond),
    'peer cpu': beside(single.own, single.usual, cpuEach),
  }
}

/** Every command is answered before anything is made of it. */
const withoutTable = async <T>(work: () => Promise<T>): Promise<T> => {
  const answer = async (command: SentCommand) => {
    if (!isWrite(command)) throw new Error('What is remembered was read')
    return { Attributes: { requests: 1 } }
  }
  const end = tapSends(answer)
  try {
    return await work()
  } finally {
    end()
  }
}

const unitsOf = async (work: Work) => {
  const times = 10
  const counted = await countUnits(async () => {
    for (let n = 0; n < times; n += 1) await work(-1 - n)
  })
  return { trips: counted.trips / times, written: counted.written / times }
}

const coldFigures = async (rounds: number): Promise<Record<string, Figure>> => {
  await buildBundles({ charge: everyFunction.charge ?? '' }, lean, FOLDER)
  await buildBundles({ peer: join(import.meta.dirname, '../peers/charge.ts') }, asItComes, FOLDER)
  const event = await chargeEvents()
  const start = (name: string, n: number): Promise<Cold> =>
    coldStart(bundleFile(name, FOLDER), handled(event(`cold-${name}-${n}`), 202))
  const own: Cold[] = []
  const usual: Cold[] = []
  for (let n = -1; n < rounds; n += 1) {
    const [one, other] = [await start('charge', n), await start('peer', n)]
    if (n < 0) continue
    own.push(one)
    usual.push(other)
  }
  const [size, base] = await Promise.all(
    ['charge', 'peer'].map(async (name) => (await stat(bundleFile(name, FOLDER))).size / 1_000),
  )
  return {
    'peer size': ratioOf(size ?? Number.NaN, base ?? Number.NaN),
    'peer cold': beside(own, usual, ({ whole }) => whole),
  }
}

export const measure: Measure = async ({ rounds, short }) => {
  const ground = await openGround()
  try {
    await createIdempotencyTable(ground.endpoint)
    const works: Works = {
      own: await workOf('own', charge(hurriedClock())),
      usual: await workOf('usual', peer.charge(hurriedClock().now)),
    }
    const figures = await underLoad(works, rounds, short ? REQUESTS / 5 : REQUESTS)
    const [own, usual] = [await unitsOf(works.own), await unitsOf(works.usual)]
    const count = short ? REQUESTS_ALONE / 2 : REQUESTS_ALONE
    const plan = { rounds, count, chunk: count, together: 1 }
    const alone = await withoutTable(() => inTurns(works, plan))
    return {
      figures: {
        ...figures,
        'peer own time': beside(alone.own, alone.usual, cpuEach),
        'peer trips': ratioOf(own.trips, usual.trips),
        'peer written': ratioOf(own.written, usual.written),
        ...(await coldFigures(short ? rounds : rounds * STARTS_PER_ROUND)),
      },
    }
  } finally {
    await ground.stop()
  }
}
