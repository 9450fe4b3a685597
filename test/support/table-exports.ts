import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { gzipSync } from 'node:zlib'
import { marshall } from '@aws-sdk/util-dynamodb'
import type { Item } from '../../sandbox/aws/table/change.ts'
import type { ExportFile, ExportLine, ExportSummary } from '../../sandbox/exported-table.ts'

/** Writes files as DynamoDB exports them to S3. */

const PREFIX = 'AWSDynamoDB'

/** A file with its lines; a test may change them. */
export type WrittenExport = { id: string; lines: ExportLine[]; summary: Partial<ExportSummary> }

export const keyOf = ({ pk, sk }: Item) => JSON.stringify([pk, sk])

/** Returns a full export of items. */
export const fullExport = (items: readonly Item[], at: Date): WrittenExport => ({
  id: `${at.getTime()}-full`,
  lines: items.map((item) => ({ Item: marshall(item) })),
  summary: { exportType: 'FULL_EXPORT', exportTime: at.toISOString() },
})

type State = { items: readonly Item[]; at: Date }

/** Returns an export of the changes between two states. */
export const changesExport = (before: State, after: State): WrittenExport => {
  const [old, next] = [before, after].map(
    ({ items }) => new Map(items.map((item) => [keyOf(item), item])),
  ) as [Map<string, Item>, Map<string, Item>]
  const changed = [...next].filter(([key, item]) => !isDeepStrictEqual(old.get(key), item))
  const removed = [...old].filter(([key]) => !next.has(key))
  const Keys = ({ pk, sk }: Item) => marshall({ pk, sk })
  const Metadata = { WriteTimestampMicros: { N: String(after.at.getTime() * 1000) } }
  const [from, to] = [before.at.toISOString(), after.at.toISOString()]
  return {
    id: `${after.at.getTime()}-changes`,
    lines: [
      ...changed.map(([, item]) => ({ Metadata, Keys: Keys(item), NewImage: marshall(item) })),
      ...removed.map(([, item]) => ({ Metadata, Keys: Keys(item) })),
    ],
    summary: {
      ...{ exportType: 'INCREMENTAL_EXPORT', exportTime: to },
      ...{ exportFromTime: from, exportToTime: to },
    },
  }
}

export const writeFile = (folder: string, name: string, body: string | Buffer): void => {
  mkdirSync(dirname(join(folder, name)), { recursive: true })
  writeFileSync(join(folder, name), body)
}

/** Writes an export in two data files. @returns their keys */
export const writeExport = (
  folder: string,
  { id, lines, summary }: WrittenExport,
): readonly string[] => {
  const isFull = summary.exportType === 'FULL_EXPORT'
  const data = isFull ? `${PREFIX}/${id}/data` : `${PREFIX}/data`
  const half = Math.ceil(lines.length / 2)
  const files = [lines.slice(0, half), lines.slice(half)].map((part, n): ExportFile => {
    const bytes = gzipSync(part.map((line) => `${JSON.stringify(line)}\n`).join(''))
    const dataFileS3Key = `${data}/${id}-${n}.json.gz`
    writeFile(folder, dataFileS3Key, bytes)
    const md5Checksum = createHash('md5').update(bytes).digest('base64')
    return { itemCount: part.length, md5Checksum, dataFileS3Key }
  })
  const manifestFilesS3Key = `${PREFIX}/${id}/manifest-files.json`
  writeFile(folder, manifestFilesS3Key, files.map((file) => `${JSON.stringify(file)}\n`).join(''))
  const whole = { ...summary, itemCount: lines.length, manifestFilesS3Key }
  writeFile(folder, `${PREFIX}/${id}/manifest-summary.json`, JSON.stringify(whole))
  return files.map(({ dataFileS3Key }) => dataFileS3Key)
}
