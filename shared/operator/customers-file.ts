import * as v from 'valibot'
import { CustomerAccount } from '../domain/banks/bank.ts'
import type { ImportRow } from '../domain/banks/customer-import.ts'
import { PhoneNumber } from '../domain/phone.ts'
import { type FileParts, type LineError, reasonsOf, refuse, rowsIn } from './csv-file.ts'

/** A CSV file with the accounts of a bank's customers, read row by row in bounded memory. */

const COLUMNS = ['phone', 'name', 'account_number', 'active']
const NO_ACCOUNT = 'the file has no account'

const { customerName, accountNumber } = CustomerAccount.entries
const active = v.pipe(
  v.string(),
  v.toLowerCase(),
  v.picklist(['true', 'false', 'yes', 'no', '1', '0'], 'active must be true or false'),
  v.transform((text) => ['true', 'yes', '1'].includes(text)),
)
const Row = v.variant('isActive', [
  v.object({
    isActive: v.literal(true),
    phone: PhoneNumber,
    name: customerName,
    account_number: accountNumber,
  }),
  v.object({ isActive: v.literal(false), phone: PhoneNumber }),
])

/** The phone numbers of a file, a bit each: at most 125 MB, 22 MB for a million random numbers. */
const newPhoneSet = () => {
  const pages = new Map<number, Uint8Array>()
  /** @returns false if the number is in the set */
  return (phone: PhoneNumber): boolean => {
    const number = Number(phone.slice('+233'.length))
    const [key, bit] = [number >>> 16, number & 0xffff]
    const page = pages.get(key) ?? new Uint8Array(8_192)
    pages.set(key, page)
    const [index, mask] = [bit >>> 3, 1 << (bit & 7)]
    const isNew = ((page[index] ?? 0) & mask) === 0
    page[index] = (page[index] ?? 0) | mask
    return isNew
  }
}

const rowOf = (
  [phone, name, account_number, activeText]: readonly string[],
  isNew: (phone: PhoneNumber) => boolean,
): ImportRow | string => {
  const isActive = v.safeParse(active, activeText)
  if (!isActive.success) return 'active must be true or false'
  const parsed = v.safeParse(Row, { isActive: isActive.output, phone, name, account_number })
  if (!parsed.success) return reasonsOf(parsed.issues)
  const row = parsed.output
  if (!isNew(row.phone)) return 'phone is repeated'
  return row.isActive ? [row.phone, row.name, row.account_number] : [row.phone]
}

/** A part of the accepted rows, and the refused lines since the last part. */
type CustomersPart = { rows: ImportRow[]; refused: LineError[] }

/** An item of the table has at most 400 KB. */
const PART_BYTES = 200_000

/** @throws MalformedFile if the file is unreadable, has no header or no accepted row */
export async function* readCustomers(file: FileParts): AsyncGenerator<CustomersPart> {
  const isNew = newPhoneSet()
  let part: CustomersPart = { rows: [], refused: [] }
  let [bytes, accepted] = [0, 0]
  for await (const read of rowsIn(file, COLUMNS, NO_ACCOUNT)) {
    const row = 'reason' in read ? read.reason : rowOf(read.fields, isNew)
    if (typeof row === 'string') part.refused.push({ line: read.line, reason: row })
    else {
      part.rows.push(row)
      accepted += 1
      bytes += Buffer.byteLength(JSON.stringify(row)) + 1
    }
    if (bytes >= PART_BYTES || part.refused.length >= 1_000) {
      yield part
      part = { rows: [], refused: [] }
      bytes = 0
    }
  }
  if (accepted === 0) {
    refuse(part.refused.length > 0 ? part.refused : [{ line: 1, reason: NO_ACCOUNT }])
  }
  yield part
}
