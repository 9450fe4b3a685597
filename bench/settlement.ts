import { randomUUID } from 'node:crypto'
import { parseArgs } from 'node:util'
import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  PutObjectCommand,
  S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import { mockClient } from 'aws-sdk-client-mock'
import { startDynamoDbLocal } from '../infra/sandbox/dynamodb-local.ts'
import { createTable } from '../infra/sandbox/table.ts'
import type { PartnerId } from '../shared/domain/partner.ts'
import { type BatchId, dayOf } from '../shared/domain/settlement.ts'
import { real } from '../shared/runtime.ts'
import { buildBatch, DEBITS_PER_READ } from '../shared/settlement/build.ts'
import { findBatches } from '../shared/store/settlements.ts'
import { table } from '../shared/store/table.ts'
import { type OneDay, seed, settleBarely } from './one-day.ts'

/**
 * How fast a day of completed debits is settled on DynamoDB Local, beside a loop that writes the
 * same transactions and does nothing else, in the same run: `npm run bench:settlement`.
 */

const { values } = parseArgs({ options: { debits: { type: 'string', multiple: true } } })
const counts = (values.debits ?? ['1000', '10000']).map(Number)

const BEGINS = new Date('2026-11-21T00:00:00.000Z')
const NEXT_MORNING = new Date('2026-11-22T00:30:00.000Z')
const MEGABYTE = 1024 * 1024

const runtime = { ...real, now: () => NEXT_MORNING }

/** Reports go nowhere: it is the table that is measured. */
const withoutBucket = (): void => {
  process.env.REPORTS_BUCKET = 'reports'
  mockClient(S3Client)
    .on(PutObjectCommand)
    .resolves({})
    .on(CreateMultipartUploadCommand)
    .resolves({ UploadId: 'upload' })
    .on(UploadPartCommand)
    .resolves({ ETag: 'etag' })
    .on(CompleteMultipartUploadCommand)
    .resolves({})
}

/** Requests by what they ask for, since it was last asked. */
const countRequests = () => {
  let requests = new Map<string, number>()
  table.middlewareStack.add(
    (next, context) => (args) => {
      const name = (context as { commandName?: string }).commandName ?? ''
      requests.set(name, (requests.get(name) ?? 0) + 1)
      return next(args)
    },
    { step: 'initialize' },
  )
  return () => {
    const counted = requests
    requests = new Map()
    return counted
  }
}

const timed = async <T>(work: () => Promise<T>): Promise<{ result: T; seconds: number }> => {
  const start = performance.now()
  const result = await work()
  return { result, seconds: (performance.now() - start) / 1_000 }
}

const SAMPLE_MS = 50

/** The most of the heap that is in use meanwhile, in bytes. */
const peakOf = async <T>(work: () => Promise<T>): Promise<{ result: T; peak: number }> => {
  globalThis.gc?.()
  let peak = 0
  const sampling = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage().heapUsed)
  }, SAMPLE_MS)
  try {
    return { result: await work(), peak }
  } finally {
    clearInterval(sampling)
  }
}

const newDay = (count: number): OneDay => ({
  partner: `bench-${randomUUID().slice(0, 8)}` as PartnerId,
  count,
  begins: BEGINS,
})

/** In turns of so many debits, as a machine with other work does not stay as fast as it is. */
const DEBITS_PER_TURN = 990

const measure = async (count: number, requestsSince: () => Map<string, number>) => {
  const [bare, whole] = [newDay(count), newDay(count)]
  await seed(bare)
  await seed(whole)
  let [bareSeconds, took, peak] = [0, 0, 0]
  const requests = new Map<string, number>()
  const batches = new Set<BatchId>()
  for (let from = 0, isDone = false; !isDone; from += DEBITS_PER_TURN) {
    const to = Math.min(count, from + DEBITS_PER_TURN)
    bareSeconds += (await timed(() => settleBarely(bare, { from, to }, runtime))).seconds
    requestsSince()
    const turn = await peakOf(() => timed(() => settle(whole)))
    for (const [name, times] of requestsSince()) {
      requests.set(name, (requests.get(name) ?? 0) + times)
    }
    const { seconds: turnSeconds, result } = turn.result
    took += turnSeconds
    peak = Math.max(peak, turn.peak)
    isDone = result.isDone
    for (const id of result.batches) batches.add(id)
  }
  const [batch, ...others] = await findBatches([...batches])
  const settled = batch?.totals?.count
  if (settled !== count || others.length > 0) throw new Error(`Settled ${settled} of ${count}`)
  return { count, bareSeconds, took, peak, requests }
}

/** One turn; the last one sums the batch and writes its reports as well. */
const settle = ({ partner }: OneDay) => {
  let left = DEBITS_PER_TURN / DEBITS_PER_READ
  return buildBatch({ partner, date: dayOf(NEXT_MORNING) }, runtime, () => {
    left -= 1
    return left === 0
  })
}

const print = ({
  count,
  bareSeconds,
  took,
  peak,
  requests,
}: Awaited<ReturnType<typeof measure>>) => {
  const total = [...requests.values()].reduce((sum, one) => sum + one, 0)
  const kinds = [...requests].map(([name, times]) => `${name.replace(/Command$/, '')} ${times}`)
  const rate = (time: number) => `${Math.round(count / time)} debits/s`
  process.stdout.write(
    [
      `${count} debits`,
      `  settled    ${took.toFixed(2)} s  ${rate(took)}`,
      `  bare       ${bareSeconds.toFixed(2)} s  ${rate(bareSeconds)}`,
      `  ratio      ${(bareSeconds / took).toFixed(2)}`,
      `  requests   ${(total / count).toFixed(3)} per debit (${kinds.join(', ')})`,
      `  heap       ${(peak / MEGABYTE).toFixed(0)} MB at its peak`,
      '',
    ].join('\n'),
  )
}

const WARM_UP = 450

Object.assign(process.env, {
  AWS_REGION: 'eu-west-1',
  AWS_ACCESS_KEY_ID: 'bench',
  AWS_SECRET_ACCESS_KEY: 'bench',
  TABLE_NAME: 'bench',
})
// DynamoDB Local pauses at times to tidy its heap, for longer than the service would wait.
const handler = table.config.requestHandler as unknown as {
  updateHttpClientConfig: (key: 'requestTimeout', milliseconds: number) => void
}
handler.updateHttpClientConfig('requestTimeout', 60_000)
const local = await startDynamoDbLocal()
try {
  process.env.AWS_ENDPOINT_URL_DYNAMODB = local.endpoint
  withoutBucket()
  await createTable(local.endpoint, 'bench')
  const requestsSince = countRequests()
  await measure(WARM_UP, requestsSince)
  for (const count of counts) print(await measure(count, requestsSince))
} finally {
  await local.stop()
}
