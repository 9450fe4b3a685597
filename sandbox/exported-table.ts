import { createHash } from 'node:crypto'
import { createReadStream, existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { unmarshall } from '@aws-sdk/util-dynamodb'
import type { Item } from './aws/table/change.ts'
import { StartFailure } from './start-failure.ts'

/** Reads a folder with exports of the table to S3: a full one, and the changes of each later night. */

/** The members of `manifest-summary.json` that are read. Times are ISO 8601. */
export type ExportSummary = {
  exportType: 'FULL_EXPORT' | 'INCREMENTAL_EXPORT'
  exportTime: string
  exportFromTime?: string
  exportToTime?: string
  itemCount: number
  manifestFilesS3Key: string
}

/** A line of `manifest-files.json`. The MD5 is that of the compressed file, in base64. */
export type ExportFile = { itemCount: number; md5Checksum: string; dataFileS3Key: string }

type ExportedImage = Parameters<typeof unmarshall>[0]

/** A line of a data file: an item of a full export, or a change, without an image after a deletion. */
export type ExportLine = {
  Item?: ExportedImage
  Keys?: ExportedImage
  NewImage?: ExportedImage
  Metadata?: ExportedImage
}

const SUMMARY = /^(?<root>.*)AWSDynamoDB\/[^/]+\/manifest-summary\.json$/

const jsonOf = <T>(text: string): T => JSON.parse(text) as T

type ExportReading = { folder: string; items: Map<string, Item>; files: number; problems: string[] }

const applyLine = (items: Map<string, Item>, { Item, Keys, NewImage }: ExportLine): void => {
  const image = Item ?? NewImage
  const item = unmarshall((image ?? Keys) as ExportedImage) as Item
  const key = JSON.stringify([item.pk, item.sk])
  if (image) items.set(key, item)
  else items.delete(key)
}

/** Applies the lines of a data file. @returns their count */
const readDataFile = async (
  { items, problems }: ExportReading,
  path: string,
  { dataFileS3Key: key, md5Checksum }: ExportFile,
): Promise<number> => {
  const digest = createHash('md5')
  let [count, rest] = [0, '']
  const readLine = (line: string): void => {
    if (line === '') return
    count += 1
    applyLine(items, jsonOf<ExportLine>(line))
  }
  try {
    await pipeline(
      createReadStream(path).on('data', (bytes) => digest.update(bytes)),
      createGunzip(),
      async (source: AsyncIterable<Buffer>) => {
        const decoder = new TextDecoder()
        for await (const bytes of source) {
          const lines = `${rest}${decoder.decode(bytes, { stream: true })}`.split('\n')
          rest = lines.pop() ?? ''
          lines.forEach(readLine)
        }
      },
    )
    readLine(rest)
  } catch (error) {
    problems.push(`unreadable: ${key}: ${(error as Error).message}`)
  }
  if (digest.digest('base64') !== md5Checksum) problems.push(`altered: ${key} has another MD5`)
  return count
}

type FoundExport = ExportSummary & { root: string }

const readExport = async (
  reading: ExportReading,
  { root, itemCount, manifestFilesS3Key }: FoundExport,
): Promise<void> => {
  const { folder, problems } = reading
  const pathOf = (key: string) => join(folder, root, key.slice(key.indexOf('AWSDynamoDB/')))
  const manifest = pathOf(manifestFilesS3Key)
  const lines = existsSync(manifest) ? readFileSync(manifest, 'utf8').split('\n') : []
  let count = 0
  for (const line of lines.filter(Boolean)) {
    const file = jsonOf<ExportFile>(line)
    const [key, path] = [file.dataFileS3Key, pathOf(file.dataFileS3Key)]
    count += file.itemCount
    reading.files += 1
    if (!existsSync(path)) problems.push(`missing: ${key}`)
    else {
      const found = await readDataFile(reading, path, file)
      if (found !== file.itemCount)
        problems.push(`altered: ${key} has ${found} of ${file.itemCount} items`)
    }
  }
  if (count !== itemCount)
    problems.push(`altered: ${manifestFilesS3Key} lists ${count} of ${itemCount} items`)
}

/**
 * Reads the newest full export of a folder and the changes since.
 * @returns also what is missing or altered, and the time that the items are of
 * @throws StartFailure without a full export
 */
export const readExports = async (folder: string) => {
  const names = existsSync(folder) ? (readdirSync(folder, { recursive: true }) as string[]) : []
  const found = names.flatMap((name): FoundExport[] => {
    const { root } = SUMMARY.exec(name)?.groups ?? {}
    if (root === undefined) return []
    return [{ root, ...jsonOf<ExportSummary>(readFileSync(join(folder, name), 'utf8')) }]
  })
  const [base] = found
    .filter(({ exportType }) => exportType === 'FULL_EXPORT')
    .sort((a, b) => b.exportTime.localeCompare(a.exportTime))
  if (!base) throw new StartFailure(`${folder} has no full export of the table`)
  const reading: ExportReading = { folder, items: new Map(), files: 0, problems: [] }
  await readExport(reading, base)
  let until = new Date(base.exportTime)
  const timeOf = (text: string | undefined) => new Date(text ?? Number.NaN)
  const changes = found
    .filter(({ exportToTime }) => timeOf(exportToTime) > until)
    .sort((a, b) => Number(timeOf(a.exportToTime)) - Number(timeOf(b.exportToTime)))
  for (const one of changes) {
    const from = timeOf(one.exportFromTime)
    if (from > until)
      reading.problems.push(`missing: changes from ${until.toISOString()} to ${from.toISOString()}`)
    await readExport(reading, one)
    until = timeOf(one.exportToTime)
  }
  const { items, files, problems } = reading
  return { items: [...items.values()], files, problems, until }
}
