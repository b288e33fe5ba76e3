/** Which names a share card can show. */

/** Right-to-left scripts, which need text shaping and reordering. */
export const RIGHT_TO_LEFT =
  /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Adlam}\p{Script=Mandaic}\p{Script=Samaritan}\p{Script=Hanifi_Rohingya}]/u
/** Scripts that the fonts of the cards have. */
const SHOWN =
  /[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Thai}\p{Script=Hangul}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Bopomofo}]/u

/** Whether a card shows the name. Otherwise it says "Pilgrim" in its language. */
export function isShownOnCard(name: string): boolean {
  const letters = name.match(/\p{L}/gu) ?? []
  return (
    !RIGHT_TO_LEFT.test(name) && letters.filter((letter) => SHOWN.test(letter)).length * 2 >= letters.length
  )
}
