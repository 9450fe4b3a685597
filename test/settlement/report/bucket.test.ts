import { ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createBucket } from '../../../sandbox/emulator/bucket.ts'
import { readReport, writeReport } from '../../../shared/settlement/report/bucket.ts'
import { render } from '../../../shared/settlement/report/render.ts'
import { type Fauxqs, startFauxqs } from '../../emulators/fauxqs.ts'
import { batch, numberedLine, sealed, textOf } from './one-batch.ts'
import { type RecordingProxy, startRecordingProxy } from './recording-proxy.ts'

const Bucket = 'reports'
const region = 'eu-west-1'
const MEGABYTE = 1024 * 1024

let fauxqs: Fauxqs
let proxy: RecordingProxy
let s3: S3Client
beforeAll(async () => {
  fauxqs = await startFauxqs(region)
  await createBucket(fauxqs.endpoint, region, Bucket)
  proxy = await startRecordingProxy(fauxqs.endpoint)
  Object.assign(process.env, { AWS_ENDPOINT_URL_S3: proxy.endpoint, REPORTS_BUCKET: Bucket })
  s3 = new S3Client({ endpoint: fauxqs.endpoint, region, forcePathStyle: true })
})
afterAll(async () => {
  s3.destroy()
  await proxy.stop()
  await fauxqs.stop()
})

let batches = 0
const newBatch = () => {
  batches += 1
  const id = `STL-20261122-${String(batches).padStart(6, '0')}` as ReturnType<typeof batch>['id']
  return batch({ id })
}

async function* chunksOf(text: string, count: number) {
  for (let n = 0; n < count; n += 1) yield text
}

const keys = async () =>
  ((await s3.send(new ListObjectsV2Command({ Bucket }))).Contents ?? []).map(({ Key }) => Key)

/** Returns the bytes of all parts that S3 has received. */
const receivedBytes = (): number =>
  proxy.requests
    .filter(({ path }) => path.includes('partNumber='))
    .reduce((sum, { bytes }) => sum + bytes, 0)

describe('a report', () => {
  test('is undefined before it is written', async () => {
    expect(await readReport(newBatch(), 'csv')).toBeUndefined()
  })

  test('is stored under its provider and batch, once per format', async () => {
    const lines = [numberedLine(1), numberedLine(2)]
    const written = { ...sealed(lines), id: newBatch().id }
    for (const format of ['json', 'csv'] as const) {
      await writeReport(written, format, render(format, written, lines))
      const text = await textOf(render(format, written, lines))
      expect(await readReport(written, format)).toEqual({ text })
      expect(await keys()).toContain(`settlements/demo/${written.id}.${format}`)
    }
  })

  test('is replaced by a later write', async () => {
    const owner = newBatch()
    await writeReport(owner, 'csv', chunksOf('first,', 3))
    await writeReport(owner, 'csv', chunksOf('second,', 2))
    expect(await readReport(owner, 'csv')).toEqual({ text: 'second,second,' })
  })

  test('keeps Unicode, quotes and line ends', async () => {
    const owner = newBatch()
    const text = 'Ɔkɔtɔ 🦀 "GH₵ 5"\r\n'
    await writeReport(owner, 'csv', chunksOf(text, 3))
    expect(await readReport(owner, 'csv')).toEqual({ text: text.repeat(3) })
  })

  test('of 4 MB is returned as text, and a larger one as a URL that is valid for 15 minutes', async () => {
    const owner = newBatch()
    await writeReport(owner, 'json', chunksOf('x'.repeat(MEGABYTE), 4))
    expect(await readReport(owner, 'json')).toEqual({ text: 'x'.repeat(4 * MEGABYTE) })

    async function* more() {
      yield* chunksOf('x'.repeat(MEGABYTE), 4)
      yield 'y'
    }
    await writeReport(owner, 'json', more())
    const read = await readReport(owner, 'json')
    const url = new URL((read as { url: string }).url)
    expect(url.searchParams.get('X-Amz-Expires')).toBe('900')
    const response = await fetch(url)
    expect(response.headers.get('content-type')).toBe('application/json')
    expect(response.headers.get('content-disposition')).toBe(
      `attachment; filename="${owner.id}.json"`,
    )
    expect(await response.text()).toBe(`${'x'.repeat(4 * MEGABYTE)}y`)
  })

  test('is uploaded in parts and reads at most two parts ahead', async () => {
    const owner = newBatch()
    const line = `${'x'.repeat(1023)}\n`
    const lineCount = 48 * 1024
    const start = receivedBytes()
    let ahead = 0
    async function* lines() {
      for (let index = 0; index < lineCount; index += 1) {
        ahead = Math.max(ahead, index * line.length - (receivedBytes() - start))
        yield line
      }
    }
    await writeReport(owner, 'csv', lines())
    expect(ahead).toBeLessThanOrEqual(2 * 5 * MEGABYTE + line.length)
    const { url } = (await readReport(owner, 'csv')) as { url: string }
    const text = await (await fetch(url)).text()
    expect(text === line.repeat(lineCount)).toBe(true)
  })

  test.each([
    ['in its first part', 1, []],
    ['after several parts', 12, ['POST', 'DELETE']],
  ])('that fails %s throws and keeps the earlier report', async (_, megabytes, expected) => {
    const owner = newBatch()
    await writeReport(owner, 'csv', chunksOf('whole', 1))
    async function* broken() {
      yield* chunksOf('x'.repeat(MEGABYTE), megabytes)
      throw new Error('the lines do not add up')
    }
    const start = proxy.requests.length
    await expect(writeReport(owner, 'csv', broken())).rejects.toThrow('do not add up')
    const methods = proxy.requests.slice(start).map(({ method }) => method)
    // The upload is aborted. Parts may still be in flight.
    expect(methods.filter((method) => method !== 'PUT')).toEqual(expected)
    expect(await readReport(owner, 'csv')).toEqual({ text: 'whole' })
  })
})
