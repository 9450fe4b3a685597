import { Readable } from 'node:stream'
import { GetObjectCommand, NoSuchKey, PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { Upload } from '@aws-sdk/lib-storage'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import { clientLimits } from '../../client-limits.ts'
import type { Batch } from '../../domain/settlement/batch.ts'
import type { ReportFormat } from '../../domain/settlement/list-query.ts'
import type { Day } from '../../domain/time.ts'
import { environment } from '../../runtime.ts'

/** A report that is larger with its JSON escapes is downloaded from S3: Lambda replies are at most 6 MB. */
const REPLY_MAX_BYTES = 4 * 1024 * 1024
const URL_SECONDS = 15 * 60
/** Memory: 5 MB per part. */
const PARTS_AT_ONCE = 2

const contentTypes: Record<ReportFormat, string> = {
  json: 'application/json',
  csv: 'text/csv; charset=utf-8; header=present',
}

let client: S3Client | undefined

/** Created at first use, because bucket addressing is fixed at creation. */
export const s3 = (): S3Client => {
  client ??= new S3Client({ ...clientLimits.objects, forcePathStyle: environment.localS3 })
  return client
}

/**
 * `export`: the id of a call that exports a customer. The bucket removes it after a day.
 * `erasure`: day and number of an erasure, which the bucket keeps as long as any backup of the table.
 */
type ReportOwner =
  | Pick<Batch, 'id' | 'provider'>
  | { journal: Day }
  | { export: string }
  | { erasure: `${Day}/${number}` }

const nameOf = (owner: ReportOwner): string => {
  if ('export' in owner) return owner.export
  if ('erasure' in owner) return owner.erasure
  return 'journal' in owner ? owner.journal : owner.id
}

const folderOf = (owner: ReportOwner): string => {
  if ('export' in owner) return 'exports'
  if ('erasure' in owner) return 'erasures'
  return 'journal' in owner ? 'ledger' : `settlements/${owner.provider}`
}

const objectOf = (owner: ReportOwner, format: ReportFormat) => {
  return { Bucket: environment.reportsBucket, Key: `${folderOf(owner)}/${nameOf(owner)}.${format}` }
}

/** Streams a report to S3, replacing an earlier one. An aborted upload stores nothing. */
export const writeReport = async (
  owner: ReportOwner,
  format: ReportFormat,
  chunks: AsyncIterable<string> | Iterable<string>,
): Promise<void> => {
  const upload = new Upload({
    client: s3(),
    queueSize: PARTS_AT_ONCE,
    params: {
      ...objectOf(owner, format),
      Body: Readable.from(chunks),
      ContentType: contentTypes[format],
      ContentDisposition: `attachment; filename="${nameOf(owner)}.${format}"`,
    },
  })
  await upload.done()
}

/** Stores a small document unless it exists. @returns false if it exists */
export const putNew = (owner: ReportOwner, text: string): Promise<boolean> => {
  const object = { ...objectOf(owner, 'json'), Body: text, ContentType: contentTypes.json }
  return isNewObject(s3().send(new PutObjectCommand({ ...object, IfNoneMatch: '*' })))
}

/** @returns false if the object of a write with `IfNoneMatch` exists */
export const isNewObject = async (write: Promise<unknown>): Promise<boolean> => {
  try {
    await write
    return true
  } catch (error) {
    if ((error as Error).name === 'PreconditionFailed') return false
    throw error
  }
}

/** Returns an object with its body as a stream; undefined if it is missing. */
export const findObject = async (object: { Bucket: string; Key: string }) => {
  try {
    return await s3().send(new GetObjectCommand(object))
  } catch (error) {
    if (error instanceof NoSuchKey) return undefined
    throw error
  }
}

/** Reads a report as text, or as a URL that is valid for 15 minutes if it is too large for a reply. */
export const readReport = async (
  owner: ReportOwner,
  format: ReportFormat,
  replyMaxBytes = REPLY_MAX_BYTES,
): Promise<{ text: string } | { download: string } | undefined> => {
  const object = objectOf(owner, format)
  const found = await findObject(object)
  if (!found) return undefined
  const { Body, ContentLength = 0 } = found
  if (ContentLength <= replyMaxBytes) {
    const text = (await Body?.transformToString()) ?? ''
    if (Buffer.byteLength(JSON.stringify(text)) <= replyMaxBytes) return { text }
  }
  // Closes the connection.
  if (Body instanceof Readable) Body.destroy()
  const expiry = { expiresIn: URL_SECONDS }
  return { download: await getSignedUrl(s3(), new GetObjectCommand(object), expiry) }
}

/** Returns the bytes of a report; undefined if it is missing. A role may not list the bucket. */
export const openReport = async (
  owner: ReportOwner,
  format: ReportFormat,
): Promise<Readable | undefined> => {
  try {
    const found = await findObject(objectOf(owner, format))
    return found?.Body as Readable | undefined
  } catch (error) {
    if ((error as Error).name === 'AccessDenied') return undefined
    throw error
  }
}

/**
 * The highest generation of the table (docs/api.md#restores), stored in the bucket: a restored table
 * lacks the records of the restores that it undoes.
 */
type RecordedGeneration = {
  generation: number
  /** Whether the table has its record. If not, `restore begin` was interrupted. */
  isInTable: boolean
}

const place = () => ({ Bucket: environment.reportsBucket, Key: 'restores/generation.json' })

/** Reads the highest generation; 1 before any restore. */
export const readGeneration = async (): Promise<RecordedGeneration> => {
  const found = await findObject(place())
  if (!found) return { generation: 1, isInTable: true }
  return JSON.parse((await found.Body?.transformToString()) ?? '')
}

export const writeGeneration = async (recorded: RecordedGeneration): Promise<void> => {
  await s3().send(
    new PutObjectCommand({
      ...place(),
      Body: JSON.stringify(recorded),
      ContentType: 'application/json',
    }),
  )
}
