import { Readable } from 'node:stream'
import { setTimeout } from 'node:timers/promises'
import { beforeEach, expect, test } from 'vitest'
import { newBucket } from '../../../sandbox/aws/bucket.ts'
import { noJournal } from '../../../sandbox/aws/journal.ts'
import { answerCalls, type Command, perform } from '../../../sandbox/aws/sdk.ts'
import {
  openReport,
  readGeneration,
  readReport,
  writeReport,
} from '../../../shared/settlement/report/bucket.ts'
import { batch } from './one-batch.ts'

const MEGABYTE = 1024 * 1024
const owner = batch()
const key = `settlements/demo/${owner.id}`

/** The error that each read throws. */
let fault: string | undefined
let bucket: ReturnType<typeof newBucket>
let calls: string[]
/** The bytes of all parts that S3 has received. */
let received: number
beforeEach(() => {
  process.env.REPORTS_BUCKET = 'reports'
  bucket = newBucket(noJournal)
  calls = []
  fault = undefined
  received = 0
  answerCalls(({ constructor: { name }, input }: Command) =>
    perform(async () => {
      calls.push(name)
      if (name === 'GetObjectCommand' && fault)
        throw Object.assign(new Error(fault), { name: fault })
      if (name === 'UploadPartCommand') {
        await setTimeout(20)
        received += (input.Body as Uint8Array).length
      }
      return (bucket.calls as Record<string, (input: unknown) => unknown>)[name]?.(input)
    }),
  )
})

async function* chunksOf(text: string, count: number, error?: Error) {
  for (let n = 0; n < count; n += 1) yield text
  if (error) throw error
}

test('a report is uploaded in parts and reads at most two parts ahead', async () => {
  const line = `${'x'.repeat(1023)}\n`
  const lineCount = 48 * 1024
  let ahead = 0
  async function* lines() {
    for (let index = 0; index < lineCount; index += 1) {
      ahead = Math.max(ahead, index * line.length - received)
      yield line
    }
  }
  await writeReport(owner, 'csv', lines())
  expect(ahead).toBeLessThanOrEqual(2 * 5 * MEGABYTE + line.length)
  expect(bucket.objects.get(`${key}.csv`)?.body === line.repeat(lineCount)).toBe(true)
})

test.each([
  ['in its first part', 1, []],
  ['after several parts', 12, ['CreateMultipartUploadCommand', 'AbortMultipartUploadCommand']],
])('a report that fails %s throws and keeps the earlier report', async (_, megabytes, expected) => {
  await writeReport(owner, 'csv', chunksOf('whole', 1))
  calls = []
  const broken = chunksOf('x'.repeat(MEGABYTE), megabytes, new Error('the lines do not add up'))
  await expect(writeReport(owner, 'csv', broken)).rejects.toThrow('do not add up')
  // Parts may still be in flight.
  expect(calls.filter((name) => name !== 'UploadPartCommand')).toEqual(expected)
  expect(await readReport(owner, 'csv')).toEqual({ text: 'whole' })
})

test('a missing report is undefined, and so are the bytes of one that a role may not read', async () => {
  const reads = [() => readReport(owner, 'csv'), () => openReport(owner, 'csv'), readGeneration]
  const outcomes = () => Promise.all(reads.map((read) => read().catch(({ name }) => name)))
  const generation = { generation: 1, isInTable: true }
  expect(await outcomes()).toEqual([undefined, undefined, generation])
  await writeReport(owner, 'csv', ['whole'])
  expect(await outcomes()).toEqual([{ text: 'whole' }, expect.any(Readable), generation])
  fault = 'AccessDenied'
  expect(await outcomes()).toEqual([fault, undefined, fault])
  fault = 'SlowDown'
  expect(await outcomes()).toEqual([fault, fault, fault])
})
