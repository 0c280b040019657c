const [esc, csi, osc, dcs, st] = ['\u001B', '\u009B', '\u009D', '\u0090', '\u009C']

/** Introducers of escape sequences, and terminators of those with a text. */
const introducers = [`${esc}[`, csi]
const texts = [`${esc}]`, osc]
const ends = ['\u0007', `${esc}\\`, st]

/** Sequences that clear, move, scroll, colour, report, resize, or change modes of a terminal. */
const finals = [
  ...[
    '2J',
    '3J',
    'H',
    '1;1H',
    '10A',
    '10B',
    '10C',
    '10D',
    '10E',
    '10F',
    '5G',
    '2K',
    '1K',
    '5S',
    '5T',
    '5L',
    '5M',
  ],
  ...[
    '5P',
    '5@',
    '5X',
    '0m',
    '31m',
    '7m',
    '8m',
    '5m',
    '38;5;196m',
    '48;2;255;0;0m',
    '6n',
    '5n',
    'c',
    '>c',
    '?6n',
  ],
  ...[
    '?25l',
    '?47h',
    '?1049h',
    '?1000h',
    '?2004h',
    '?2026h',
    '?7l',
    '?1l',
    '20h',
    '4h',
    '1;5r',
    's',
    'u',
    '!p',
  ],
  ...['8;10;10t', '21t', '14t', '5i', '4i', '>4;2m', '?5h', '0 q', '2 q', '$p', '1$r'],
]

/** Operating system commands: titles, links, clipboard, colours, notifications, files. */
const commands = [
  '0;owned',
  '1;owned',
  '2;owned',
  '4;1;rgb:ff/00/00',
  '8;;https://evil.example',
  '9;owned',
  '10;red',
  '11;red',
  '52;c;b3duZWQ=',
  '777;notify;owned;owned',
  '1337;File=inline=1:AAAA',
]

/** Sequences of two characters and of one, and characters that reorder or hide their neighbours. */
const short = [
  ...['c', '7', '8', 'D', 'E', 'M', 'N', 'O', 'Z', '=', '>', '#8', '(0', ')0', '%@', 'l', 'm'].map(
    (end) => esc + end,
  ),
  ...[
    '\u0000',
    '\u0005',
    '\u0007',
    '\b',
    '\u000B',
    '\f',
    '\r',
    '\u000E',
    '\u000F',
    '\u007F',
    '\u0085',
    '\u0084',
    '\u008D',
  ],
  ...[
    '\u200B',
    '\u200E',
    '\u200F',
    '\u202A',
    '\u202B',
    '\u202D',
    '\u202E',
    '\u2066',
    '\u2067',
    '\u2068',
    '\uFEFF',
    '\u2028',
  ],
  ...['\u{E0041}', '\u00AD', '\u061C', '\u180E'],
]

/** Texts that would affect a terminal or mislead its user if they were printed unchanged. Each is listed once. */
export const escapes: readonly string[] = [
  ...introducers.flatMap((start) => finals.map((end) => start + end)),
  ...texts.flatMap((start) => commands.map((text, at) => `${start}${text}${ends[at % ends.length]}`)),
  `${osc}0;never ended`,
  `${dcs}+q544e${st}`,
  `${esc}P$q"p${esc}\\`,
  `${esc}_Gf=24;AAAA${esc}\\`,
  `${esc}^owned${esc}\\`,
  `${esc}Xowned${esc}\\`,
  ...short,
]
