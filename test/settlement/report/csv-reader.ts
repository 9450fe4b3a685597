/** Parses CSV strictly by the grammar of RFC 4180. */
export const recordsOf = (text: string): string[][] => {
  const records: string[][] = []
  let rest = text
  let record: string[] = []
  while (rest !== '') {
    const [whole, quoted, plain = '', end] = FIELD.exec(rest) ?? []
    if (whole === undefined) throw new Error(`No field at: ${JSON.stringify(rest.slice(0, 40))}`)
    record.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'))
    rest = rest.slice(whole.length)
    if (end === ',') continue
    records.push(record)
    record = []
  }
  return records
}

const FIELD = /^(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/
