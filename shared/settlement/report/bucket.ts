import { Readable } from 'node:stream'
import { GetObjectCommand, NoSuchKey, S3Client } from '@aws-sdk/client-s3'
import { Upload } from '@aws-sdk/lib-storage'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import type { Batch } from '../../domain/settlement/batch.ts'
import type { Day } from '../../domain/time.ts'
import { environment } from '../../runtime.ts'
import type { ReportFormat } from './render.ts'

/** Where reports are kept: of batches, each under its provider, and of days of the ledger. */

/** What is larger is fetched from S3 itself: a function may answer with 6 MB, and quotes grow. */
const TEXT_MAX_BYTES = 4 * 1024 * 1024
const URL_SECONDS = 15 * 60
/** Parts of 5 MB in memory at one time. */
const PARTS_AT_ONCE = 2

const contentTypes: Record<ReportFormat, string> = {
  json: 'application/json',
  csv: 'text/csv; charset=utf-8; header=present',
}

let client: S3Client | undefined

/** Made when it is first needed: how buckets are addressed is decided once, when it is made. */
export const s3 = (): S3Client => {
  client ??= new S3Client({
    forcePathStyle: environment.localS3,
    maxAttempts: 3,
    requestHandler: {
      connectionTimeout: 1_000,
      requestTimeout: 10_000,
      throwOnRequestTimeout: true,
    },
  })
  return client
}

type Named = Pick<Batch, 'id' | 'provider'> | { journal: Day }

const nameOf = (report: Named): string => ('journal' in report ? report.journal : report.id)

const placeOf = (report: Named, format: ReportFormat) => {
  const folder = 'journal' in report ? 'ledger' : `settlements/${report.provider}`
  return { Bucket: environment.reportsBucket, Key: `${folder}/${nameOf(report)}.${format}` }
}

/** Writes a report, in place of an earlier one, as its text comes; one that breaks off is not kept. */
export const writeReport = async (
  report: Named,
  format: ReportFormat,
  chunks: AsyncIterable<string>,
): Promise<void> => {
  const upload = new Upload({
    client: s3(),
    queueSize: PARTS_AT_ONCE,
    params: {
      ...placeOf(report, format),
      Body: Readable.from(chunks),
      ContentType: contentTypes[format],
      ContentDisposition: `attachment; filename="${nameOf(report)}.${format}"`,
    },
  })
  await upload.done()
}

/** A report as text, or where to fetch it for the next 15 minutes; undefined: there is none. */
export const readReport = async (
  report: Named,
  format: ReportFormat,
  textMaxBytes = TEXT_MAX_BYTES,
): Promise<{ text: string } | { url: string } | undefined> => {
  const place = placeOf(report, format)
  try {
    const { Body, ContentLength = 0 } = await s3().send(new GetObjectCommand(place))
    if (ContentLength <= textMaxBytes) return { text: (await Body?.transformToString()) ?? '' }
    // Nobody reads it here; its connection goes with it.
    if (Body instanceof Readable) Body.destroy()
    return {
      url: await getSignedUrl(s3(), new GetObjectCommand(place), { expiresIn: URL_SECONDS }),
    }
  } catch (error) {
    if (error instanceof NoSuchKey) return undefined
    throw error
  }
}
