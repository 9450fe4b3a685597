/** A page to print, without scripts or references to other files. */

export type Table = { caption: string; columns: readonly string[]; rows: readonly string[][] }

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

const escaped = (text: string): string =>
  text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? '')

const STYLE =
  'body{font:14px/1.4 sans-serif;margin:2em}table{border-collapse:collapse;margin:1em 0;width:100%}' +
  'caption{font-weight:bold;text-align:left;padding:.3em 0}' +
  'th,td{border-bottom:1px solid #bbb;padding:.3em .6em;text-align:left}' +
  '.number{text-align:right;font-variant-numeric:tabular-nums}tr{break-inside:avoid}'

const AMOUNT = /^-?[0-9]+(?:\.[0-9]{2})?$/

const cell = (text: string): string =>
  AMOUNT.test(text) ? `<td class="number">${text}</td>` : `<td>${escaped(text)}</td>`

const tableOf = ({ caption, columns, rows }: Table): string =>
  [
    `<table><caption>${escaped(caption)}</caption>`,
    `<thead><tr>${columns.map((name) => `<th scope="col">${escaped(name)}</th>`).join('')}</tr></thead>`,
    `<tbody>${rows.map((row) => `<tr>${row.map(cell).join('')}</tr>`).join('\n')}</tbody></table>`,
  ].join('\n')

/** @param notes paragraphs below the title */
export const htmlPage = (title: string, notes: readonly string[], tables: readonly Table[]) =>
  [
    '<!doctype html>',
    `<html lang="en"><head><meta charset="utf-8"><title>${escaped(title)}</title>`,
    `<style>${STYLE}</style></head><body>`,
    `<h1>${escaped(title)}</h1>`,
    ...notes.map((note) => `<p>${escaped(note)}</p>`),
    ...tables.map(tableOf),
    '</body></html>\n',
  ].join('\n')
