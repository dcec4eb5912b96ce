/** A licence as its text gives it away: phrases it must hold, in plain words, and phrases it must not hold. */
interface LicenceText {
  id: string
  all: string[]
  none?: string[]
}

const BSD = 'redistribution and use in source and binary forms with or without modification are permitted'
const PERMIT =
  'permission to use copy modify and or distribute this software for any purpose with or without fee is hereby granted'
const MIT = 'permission is hereby granted free of charge to any person obtaining a copy of this software'
const MIT_NOTICE = 'shall be included in all copies or substantial portions'
const BSD_NAME = 'endorse or promote products derived from this software'
const BSD_ADS = 'all advertising materials mentioning features'

/** The licences whose text is known, by SPDX id. GNU licences are listed without -only or -or-later: their text is the same. */
const TEXTS: LicenceText[] = [
  { id: 'MIT', all: [MIT, MIT_NOTICE] },
  { id: 'MIT-0', all: [MIT], none: [MIT_NOTICE] },
  { id: 'ISC', all: [`${PERMIT} provided that the above copyright notice`] },
  { id: '0BSD', all: [PERMIT], none: [`${PERMIT} provided`] },
  {
    id: 'Apache-2.0',
    all: ['apache license version 2.0', 'terms and conditions for use reproduction and distribution'],
  },
  {
    id: 'Apache-2.0',
    all: ['licensed under the apache license version 2.0', 'you may obtain a copy of the license at'],
  },
  { id: 'BSD-2-Clause', all: [BSD], none: [BSD_NAME] },
  { id: 'BSD-3-Clause', all: [BSD, BSD_NAME], none: [BSD_ADS] },
  { id: 'BSD-4-Clause', all: [BSD, BSD_NAME, BSD_ADS] },
  { id: 'MPL-2.0', all: ['mozilla public license version 2.0'] },
  { id: 'EPL-2.0', all: ['eclipse public license v 2.0'] },
  { id: 'CC0-1.0', all: ['cc0 1.0 universal'] },
  {
    id: 'CC-BY-4.0',
    all: ['attribution 4.0 international'],
    none: ['noncommercial 4.0', 'sharealike 4.0', 'noderivatives 4.0'],
  },
  { id: 'CC-BY-SA-4.0', all: ['attribution sharealike 4.0 international'] },
  { id: 'Unlicense', all: ['this is free and unencumbered software released into the public domain'] },
  { id: 'BlueOak-1.0.0', all: ['blue oak model license', 'version 1.0.0'] },
  { id: 'LGPL-2.1', all: ['gnu lesser general public license', 'version 2.1 february 1999'] },
  { id: 'LGPL-3.0', all: ['gnu lesser general public license', 'version 3 29 june 2007'] },
  { id: 'GPL-2.0', all: ['gnu general public license', 'version 2 june 1991'] },
  { id: 'GPL-3.0', all: ['gnu general public license version 3 29 june 2007'] },
  { id: 'AGPL-3.0', all: ['gnu affero general public license version 3 19 november 2007'] },
  {
    id: 'Zlib',
    all: [
      'this software is provided as is without any express or implied warranty',
      'altered source versions must be plainly marked',
    ],
  },
  { id: 'Python-2.0', all: ['python software foundation license version 2'] },
  { id: 'WTFPL', all: ['do what the fuck you want to public license'] },
  { id: 'BSL-1.0', all: ['boost software license version 1.0'] },
  { id: 'Artistic-2.0', all: ['artistic license 2.0'] },
]

/** The SPDX ids of the licences whose words stand in this text, in the order of their first words. */
export function licencesIn(text: string): string[] {
  const words = plainWords(text)
  const found = TEXTS.filter(
    ({ all, none = [] }) =>
      all.every((phrase) => words.includes(phrase)) && !none.some((phrase) => words.includes(phrase)),
  )
  const placed = found.map(({ id, all }) => ({ id, at: words.indexOf(all[0] ?? '') }))
  return [...new Set(placed.sort((a, b) => a.at - b.at).map(({ id }) => id))]
}

// Line breaks, quotes, list marks and punctuation differ from copy to copy; dots within a version number stay.
const plainWords = (text: string): string =>
  text
    .toLowerCase()
    .replace(/\.(?!\d)/g, ' ')
    .replace(/[^a-z0-9.]+/g, ' ')
