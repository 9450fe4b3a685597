import { ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createBucket } from '../../../sandbox/bucket.ts'
import { type Fauxqs, startFauxqs } from '../../../sandbox/fauxqs.ts'
import { readReport, writeReport } from '../../../shared/settlement/report/bucket.ts'
import { render } from '../../../shared/settlement/report/render.ts'
import { batch, nth, sealed, whole } from './one-batch.ts'
import { type Watched, watch } from './watched.ts'

const Bucket = 'reports'
const region = 'eu-west-1'
const MEGABYTE = 1024 * 1024

let fauxqs: Fauxqs
let watched: Watched
let s3: S3Client
beforeAll(async () => {
  fauxqs = await startFauxqs(region)
  await createBucket(fauxqs.endpoint, region, Bucket)
  watched = await watch(fauxqs.endpoint)
  Object.assign(process.env, { AWS_ENDPOINT_URL_S3: watched.endpoint, REPORTS_BUCKET: Bucket })
  s3 = new S3Client({ endpoint: fauxqs.endpoint, region, forcePathStyle: true })
})
afterAll(async () => {
  s3.destroy()
  await watched.stop()
  await fauxqs.stop()
})

let made = 0
/** A batch of its own. */
const another = () => {
  made += 1
  const id = `STL-20261122-${String(made).padStart(6, '0')}` as ReturnType<typeof batch>['id']
  return batch({ id })
}

async function* chunksOf(text: string, count: number) {
  for (let n = 0; n < count; n += 1) yield text
}

const keys = async () =>
  ((await s3.send(new ListObjectsV2Command({ Bucket }))).Contents ?? []).map(({ Key }) => Key)

/** Bytes of parts that have arrived, of all uploads so far. */
const arrived = (): number =>
  watched.answered
    .filter(({ path }) => path.includes('partNumber='))
    .reduce((sum, { bytes }) => sum + bytes, 0)

describe('a report', () => {
  test('that was never written is none', async () => {
    expect(await readReport(another(), 'csv')).toBeUndefined()
  })

  test('is kept under its provider and batch, in each format for itself', async () => {
    const lines = [nth(1), nth(2)]
    const written = { ...sealed(lines), id: another().id }
    for (const format of ['json', 'csv'] as const) {
      await writeReport(written, format, render(format, written, lines))
      const text = await whole(render(format, written, lines))
      expect(await readReport(written, format)).toEqual({ text })
      expect(await keys()).toContain(`settlements/demo/${written.id}.${format}`)
    }
  })

  test('is written over when it is written again', async () => {
    const one = another()
    await writeReport(one, 'csv', chunksOf('first,', 3))
    await writeReport(one, 'csv', chunksOf('second,', 2))
    expect(await readReport(one, 'csv')).toEqual({ text: 'second,second,' })
  })

  test('keeps every letter', async () => {
    const one = another()
    const text = 'Ɔkɔtɔ 🦀 "GH₵ 5"\r\n'
    await writeReport(one, 'csv', chunksOf(text, 3))
    expect(await readReport(one, 'csv')).toEqual({ text: text.repeat(3) })
  })

  test('of 4 MB is text; one byte more is fetched by a URL that lives for 15 minutes', async () => {
    const one = another()
    await writeReport(one, 'json', chunksOf('x'.repeat(MEGABYTE), 4))
    expect(await readReport(one, 'json')).toEqual({ text: 'x'.repeat(4 * MEGABYTE) })

    async function* more() {
      yield* chunksOf('x'.repeat(MEGABYTE), 4)
      yield 'y'
    }
    await writeReport(one, 'json', more())
    const read = await readReport(one, 'json')
    const url = new URL((read as { url: string }).url)
    expect(url.searchParams.get('X-Amz-Expires')).toBe('900')
    const response = await fetch(url)
    expect(response.headers.get('content-type')).toBe('application/json')
    expect(response.headers.get('content-disposition')).toBe(
      `attachment; filename="${one.id}.json"`,
    )
    expect(await response.text()).toBe(`${'x'.repeat(4 * MEGABYTE)}y`)
  })

  test('of many parts goes part by part, no further ahead than two of them', async () => {
    const one = another()
    const line = `${'x'.repeat(1023)}\n`
    const lineCount = 48 * 1024
    const before = arrived()
    let ahead = 0
    async function* lines() {
      for (let n = 0; n < lineCount; n += 1) {
        ahead = Math.max(ahead, n * line.length - (arrived() - before))
        yield line
      }
    }
    await writeReport(one, 'csv', lines())
    expect(ahead).toBeLessThanOrEqual(2 * 5 * MEGABYTE + line.length)
    const { url } = (await readReport(one, 'csv')) as { url: string }
    const text = await (await fetch(url)).text()
    expect(text === line.repeat(lineCount)).toBe(true)
  })

  test.each([
    ['in its first part', 1, []],
    ['after several parts', 12, ['POST', 'DELETE']],
  ])('that breaks off %s is told, and nothing of it is left', async (_, megabytes, asked) => {
    const one = another()
    await writeReport(one, 'csv', chunksOf('whole', 1))
    async function* broken() {
      yield* chunksOf('x'.repeat(MEGABYTE), megabytes)
      throw new Error('the lines do not come to the batch')
    }
    const before = watched.answered.length
    await expect(writeReport(one, 'csv', broken())).rejects.toThrow('do not come to the batch')
    const methods = watched.answered.slice(before).map(({ method }) => method)
    // Begun and given up, never completed; a part may still be on its way meanwhile.
    expect(methods.filter((method) => method !== 'PUT')).toEqual(asked)
    expect(await readReport(one, 'csv')).toEqual({ text: 'whole' })
  })
})
