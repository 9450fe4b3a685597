import { SaxesParser } from 'saxes'
import type { StatementTexts } from '../domain/banks/statement-row.ts'
import { readReference } from '../domain/ids.ts'
import { MalformedFile } from './csv-file.ts'

/** Statements in camt.053 (ISO 20022): the booked entries, or the transactions of a batch entry. */

type CamtFields = { line: number; fields: StatementTexts }

type Part = { line: number; texts: Record<string, string>; currency: string }

/** A name of an element and its texts may not fill the memory. */
const TEXT_MAX = 10_000
const DEPTH_MAX = 50

const HEX_UUID = /^([0-9a-f]{8})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{12})$/i

const TEXTS = {
  Ntry: {
    Amt: 'amount',
    CdtDbtInd: 'side',
    Sts: 'status',
    'Sts/Cd': 'status',
    'BookgDt/Dt': 'day',
    'BookgDt/DtTm': 'day',
    AcctSvcrRef: 'reference',
    NtryRef: 'entry',
  },
  TxDtls: {
    Amt: 'amount',
    'AmtDtls/TxAmt/Amt': 'amount',
    CdtDbtInd: 'side',
    'Refs/EndToEndId': 'endToEnd',
    'Refs/AcctSvcrRef': 'reference',
    'Refs/TxId': 'entry',
  },
} as const satisfies Record<string, Record<string, string>>

const rowOf = (entry: Part, transaction: Part | undefined): CamtFields => {
  const { endToEnd = '', ...own } = transaction?.texts ?? {}
  const texts = { ...entry.texts, ...own }
  const named = endToEnd === 'NOTPROVIDED' ? '' : endToEnd
  const uuid = HEX_UUID.exec(named)?.slice(1).join('-') ?? ''
  const ofBank = transaction?.texts.reference || (transaction?.texts.entry ?? '')
  const reference = ofBank || (uuid ? '' : named) || texts.reference || (texts.entry ?? '')
  const amount = texts.amount ?? ''
  // The schema allows zero to five decimals.
  const isPlain = /^[0-9]{1,10}(?:\.[0-9]{1,2}0*)?$/.test(amount)
  return {
    line: (transaction ?? entry).line,
    fields: {
      uuid,
      bank_reference: reference,
      // A bank need not use the reference of its statement in its API.
      reference: readReference(named),
      [texts.side === 'DBIT' ? 'outgoing' : 'amount']: isPlain ? Number(amount).toFixed(2) : amount,
      currency: transaction?.currency || entry.currency,
      // A day may have an offset.
      completed_at: (texts.day ?? '').replace(/^(.{10})(?:Z|[+-][0-9:]{5})$/, '$1'),
    },
  }
}

/** Reads the entries of a document. Its references to entities and its document types are refused. */
const openDocument = () => {
  const parser = new SaxesParser({ position: true })
  const path: string[] = []
  const found: CamtFields[] = []
  let [text, isStatement, isBatch] = ['', false, false]
  let entry: Part | undefined
  let transaction: Part | undefined
  const fail = (reason: string): never => {
    throw new MalformedFile(`line ${parser.line}: ${reason}`)
  }
  const newPart = (): Part => ({ line: parser.line, texts: {}, currency: '' })
  const placeIn = (name: string): string => path.slice(path.lastIndexOf(name) + 1).join('/')
  const endEntry = (): void => {
    if (entry?.texts.status === 'BOOK' && !isBatch) found.push(rowOf(entry, undefined))
    entry = undefined
    isBatch = false
  }
  const endTransaction = (): void => {
    if (entry?.texts.status === 'BOOK' && transaction) found.push(rowOf(entry, transaction))
    transaction = undefined
    isBatch = true
  }
  parser.on('error', () => fail('is not well-formed XML'))
  parser.on('doctype', () => fail('a document type is not allowed'))
  parser.on('opentag', ({ name: qualified, attributes }) => {
    const name = qualified.slice(qualified.indexOf(':') + 1)
    path.push(name)
    if (path.length > DEPTH_MAX) fail('is nested too deeply')
    text = ''
    if (name === 'BkToCstmrStmt') isStatement = true
    if (name === 'Ntry') entry = newPart()
    if (name === 'TxDtls' && entry) transaction = newPart()
    const part = transaction ?? entry
    if (name === 'Amt' && part) part.currency ||= String(attributes.Ccy ?? '')
  })
  const addText = (more: string): void => {
    text += more
    if (text.length > TEXT_MAX) fail('a text is too long')
  }
  parser.on('text', addText)
  parser.on('cdata', addText)
  parser.on('closetag', () => {
    const [part, of] = transaction ? ([transaction, 'TxDtls'] as const) : ([entry, 'Ntry'] as const)
    const member = (TEXTS[of] as Record<string, string>)[placeIn(of)]
    if (part && member) part.texts[member] ??= text.trim()
    const name = path.pop()
    if (name === 'TxDtls') endTransaction()
    if (name === 'Ntry') endEntry()
    text = ''
  })
  return {
    write: (part: string): CamtFields[] => {
      parser.write(part)
      return found.splice(0)
    },
    close: (): CamtFields[] => {
      parser.close()
      return isStatement ? found.splice(0) : fail('is not a camt.053 document')
    },
  }
}

/** @throws MalformedFile for another document, a document type, or XML that is not well-formed */
export async function* readCamt(texts: AsyncIterable<string>): AsyncGenerator<CamtFields> {
  const document = openDocument()
  for await (const text of texts) yield* document.write(text)
  yield* document.close()
}
