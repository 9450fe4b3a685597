import { pipeline, Readable } from 'node:stream'
import { CsvError, parse } from 'csv-parse'
import type * as v from 'valibot'

/** CSV files that operators upload, read record by record: their size is that of a bank. */

/** Thrown for an unreadable file, with a reason per line. */
export class MalformedFile extends Error {}

/** The number of wrong lines that a refusal names. */
export const PRINTED_MAX = 20

export type LineError = { line: number; reason: string }

/** @param count the number of wrong lines, of which at least the first ones are given */
export const refuse = (errors: readonly LineError[], count = errors.length): never => {
  const first = errors.slice(0, PRINTED_MAX)
  const printed = first.map(({ line, reason }) => `line ${line}: ${reason}`)
  const rest = count - printed.length
  const summary = rest > 0 ? [`and ${rest} more lines`] : []
  throw new MalformedFile([...printed, ...summary].join('\n'))
}

export type CsvRecord = { record: string[]; info: { lines: number } }

/** The parts of a file, in order. */
export type FileParts = Iterable<Uint8Array> | AsyncIterable<Uint8Array>

/** A record without an end must not fill the memory. The parser counts the texts of a record only. */
const RECORD_MAX = 64 * 1024
const TOO_LONG = 'a record is too long, or its quotes are unclosed'

const MARKS = [
  { bytes: [0xff, 0xfe], encoding: 'utf-16le' },
  { bytes: [0xfe, 0xff], encoding: 'utf-16be' },
  { bytes: [0xef, 0xbb, 0xbf], encoding: 'utf-8' },
] as const

/**
 * Decodes a file by its byte order mark, else by `encoding`. Each line of the result ends with a line feed.
 * @throws MalformedFile for bytes that the encoding does not have
 */
export async function* textsOf(file: FileParts, encoding?: Encoding): AsyncGenerator<string> {
  let held = ''
  for await (const text of decoded(file, encoding)) {
    const whole = held + text
    // The line feed of a carriage return can be in the next text.
    held = whole.endsWith('\r') ? '\r' : ''
    yield whole.slice(0, whole.length - held.length).replaceAll(/\r\n?/g, '\n')
  }
  if (held) yield '\n'
}

type Encoding = 'utf-8' | 'utf-16le' | 'windows-1252'

async function* decoded(file: FileParts, encoding: Encoding = 'utf-8'): AsyncGenerator<string> {
  let decoder: InstanceType<typeof TextDecoder> | undefined
  let used: string = encoding
  let head: Uint8Array = new Uint8Array()
  try {
    for await (const part of file) {
      if (decoder) {
        yield decoder.decode(part, { stream: true })
        continue
      }
      head = Buffer.concat([head, part])
      if (head.length < 3) continue
      used = encodingOf(head) ?? encoding
      // TextDecoder removes a byte order mark.
      decoder = new TextDecoder(used, { fatal: true })
      yield decoder.decode(head, { stream: true })
    }
    decoder ??= new TextDecoder(used, { fatal: true })
    yield head.length < 3 ? decoder.decode(head) : decoder.decode()
  } catch (error) {
    if (error instanceof TypeError) {
      throw new MalformedFile(`the file is not ${used.toUpperCase()}`)
    }
    throw error
  }
}

const encodingOf = (head: Uint8Array) =>
  MARKS.find(({ bytes }) => bytes.every((byte, index) => head[index] === byte))?.encoding

async function* shortRecords(texts: AsyncIterable<string>): AsyncGenerator<string> {
  let length = 0
  for await (const text of texts) {
    const end = text.lastIndexOf('\n')
    length = text.length - end - 1 + (end === -1 ? length : 0)
    if (length > 2 * RECORD_MAX) throw new MalformedFile(TOO_LONG)
    yield text
  }
}

export async function* recordsIn(file: FileParts): AsyncGenerator<CsvRecord> {
  let isFirst = true
  for await (const csv of recordsInTexts(textsOf(file), ',')) {
    if (isFirst && csv.record.length === 1 && /[;\t]/.test(csv.record[0] ?? '')) {
      refuse([{ line: csv.info.lines, reason: 'the separator must be a comma' }])
    }
    isFirst = false
    yield csv
  }
}

export async function* recordsInTexts(
  texts: AsyncIterable<string>,
  delimiter: string,
): AsyncGenerator<CsvRecord> {
  const parser = parse({
    info: true,
    trim: true,
    delimiter,
    record_delimiter: '\n',
    skip_empty_lines: true,
    relax_column_count: true,
    max_record_size: RECORD_MAX,
  })
  try {
    // An error of a part ends the loop over the records.
    yield* pipeline(Readable.from(shortRecords(texts)), parser, () => undefined)
  } catch (error) {
    if (!(error instanceof CsvError)) throw error
    const isLong = error.code === 'CSV_MAX_RECORD_SIZE'
    const reason = isLong ? TOO_LONG : 'unclosed quotes'
    refuse([{ line: Number(error.lines ?? 0), reason }])
  }
}

/** The places of named columns in the records below a header, which have as many fields as it. */
type Columns = { places: readonly number[]; width: number }

/**
 * Yields the fields of named columns, row by row, or the reason to refuse a row.
 * @param emptyReason the reason to refuse a file without a header
 */
export async function* rowsIn(
  file: FileParts,
  names: readonly string[],
  emptyReason = `column ${names.join(', ')} is missing`,
): AsyncGenerator<LineError | { line: number; fields: string[] }> {
  let columns: Columns | undefined
  for await (const csv of recordsIn(file)) {
    if (!columns) {
      columns = columnsIn(csv, names)
      continue
    }
    const line = firstLineOf(csv)
    const reason = widthReason(csv, columns.width)
    if (reason) yield { line, reason }
    else yield { line, fields: columns.places.map((place) => csv.record[place] ?? '') }
  }
  if (!columns) refuse([{ line: 1, reason: emptyReason }])
}

const columnsIn = ({ record, info }: CsvRecord, names: readonly string[]): Columns => {
  const header = record.map((name) => name.toLowerCase())
  const missing = names.filter((name) => !header.includes(name))
  const repeated = names.filter((name) => header.indexOf(name) !== header.lastIndexOf(name))
  const reasons = [
    ...(missing.length > 0 ? [`column ${missing.join(', ')} is missing`] : []),
    ...repeated.map((name) => `column ${name} is repeated`),
  ]
  if (reasons.length > 0) refuse([{ line: info.lines, reason: reasons.join('; ') }])
  return { places: names.map((name) => header.indexOf(name)), width: record.length }
}

/** Returns the reason to refuse a record with more or fewer fields than its header. */
export const widthReason = ({ record }: CsvRecord, width: number): string | undefined =>
  record.length === width ? undefined : `${record.length} fields, but ${width} columns`

/** Returns the first line of a record: a quoted field may span lines. */
export const firstLineOf = ({ record, info }: CsvRecord): number =>
  info.lines - record.join('').split('\n').length + 1

/** Returns reasons that name columns and never quote values. */
export const reasonsOf = (issues: readonly v.BaseIssue<unknown>[]): string => {
  const reasons = issues.map(({ message, path }) =>
    message.startsWith('Invalid') ? `${String(path?.[0].key)} is malformed` : message,
  )
  return [...new Set(reasons)].join('; ')
}
