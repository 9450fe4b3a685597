import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { Upload } from '@aws-sdk/lib-storage'
import type { Day } from '../domain/time.ts'
import { environment } from '../runtime.ts'
import { findObject, isNewObject, s3 } from '../settlement/report/bucket.ts'

/** The objects of a bucket that nobody can change or remove (docs/audit.md). */

const place = (Key: string) => ({ Bucket: environment.auditBucket, Key })
const lineFile = (day: Day, name: string): string => `${day}/${name}.ndjson`

/** The number of lines and the SHA-256, in hexadecimal digits, of a file. */
export type FileDigest = { count: number; sha256: string }

const PARTS_AT_ONCE = 1

/** Writes an object unless it exists. @returns false if it exists */
const putNew = (key: string, type: string, body: Readable): Promise<boolean> => {
  const params = { ...place(key), Body: body, ContentType: type, IfNoneMatch: '*' }
  return isNewObject(new Upload({ client: s3(), queueSize: PARTS_AT_ONCE, params }).done())
}

/** Writes the lines of a file unless it exists. @returns the digest of the stored file */
export const putLines = async (
  day: Day,
  name: string,
  lines: AsyncIterable<string>,
): Promise<FileDigest> => {
  async function* terminated() {
    for await (const line of lines) yield Buffer.from(`${line}\n`)
  }
  const key = lineFile(day, name)
  await putNew(key, 'application/x-ndjson', Readable.from(terminated(), { objectMode: false }))
  const stored = await readDigest(day, name)
  if (!stored) throw new Error(`The audit file ${key} is gone`)
  return stored
}

/** Reads the digest of a file of lines; undefined if it is missing. */
export const readDigest = async (day: Day, name: string): Promise<FileDigest | undefined> => {
  const found = await findObject(place(lineFile(day, name)))
  if (!found) return undefined
  const digest = createHash('sha256')
  let count = 0
  for await (const bytes of found.Body as Readable) {
    digest.update(bytes)
    for (const byte of bytes as Uint8Array) if (byte === LINE_FEED) count += 1
  }
  return { count, sha256: digest.digest('hex') }
}

const LINE_FEED = 0x0a

/** Yields the lines of a file; none if it is missing. */
export async function* readLines(day: Day, name: string): AsyncGenerator<string> {
  const found = await findObject(place(lineFile(day, name)))
  if (!found) return
  const decoder = new TextDecoder()
  let rest = ''
  for await (const bytes of found.Body as Readable) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
  if (rest) yield rest
}

const objectOf = (day: Day): string => `${day}.json`

/** @returns false if the day has an object */
export const putObject = (day: Day, text: string): Promise<boolean> =>
  putNew(objectOf(day), 'application/json', Readable.from([Buffer.from(text)]))

export const readObject = async (day: Day): Promise<string | undefined> => {
  const found = await findObject(place(objectOf(day)))
  return found?.Body?.transformToString()
}

const FIRST = 'first.txt'

/** Names the first sealed day unless one is named. @returns the named day */
export const nameFirstDay = async (day: Day): Promise<Day> => {
  await putNew(FIRST, 'text/plain', Readable.from([Buffer.from(day)]))
  const stored = await findObject(place(FIRST))
  return ((await stored?.Body?.transformToString()) ?? day) as Day
}
