// Tokens of chat templates, which some servers leave in the texts of a model.

/** Beginnings of messages with an answer in the format of gpt-oss. Answers and thoughts end with the same token. */
export const answerHeaders = [
  '<|start|>assistant',
  '<|channel|>final<|message|>',
  '<|channel|>final <|constrain|>json<|message|>',
  '<|channel|>commentary<|message|>',
]
/** `answerHeaders` without special tokens, which some servers remove. */
export const bareAnswerHeaders = ['assistantfinal', 'assistantcommentary']
export const ends = ['<|end|>', '<|return|>']

/** Tokens that control a conversation. They remain in texts if a server does not know how its model ends a turn. */
export const controls = [
  ...answerHeaders,
  ...ends,
  ...['<|call|>', '<|begin_of_solution|>', '<|end_of_solution|>', '<|start_response|>', '<|end_response|>'],
  ...['<|im_start|>assistant<|im_sep|>', '<|im_start|>assistant', '<|im_start|>', '<|im_end|>'],
  ...['<|im_assistant|>assistant<|im_middle|>', '<|assistant|>', '<|user|>', '<|observation|>'],
  ...[
    '<|assistant_start|>',
    '<|assistant_end|>',
    '<|start_of_role|>assistant<|end_of_role|>',
    '<|role_end|>',
  ],
  ...[
    '<|begin_of_text|>',
    '<|end_of_text|>',
    '<|endoftext|>',
    '<|eot_id|>',
    '<|eom_id|>',
    '<|eot|>',
    '<|eom|>',
  ],
  ...['<|start_header_id|>assistant<|end_header_id|>', '<|header_start|>assistant<|header_end|>'],
  ...['<|end_of_turn|>', '<|end_of_turn_token|>', '[|endofturn|]', '[|assistant|]', '</longcat_s>'],
  ...[
    '<|turn>model',
    '<turn|>',
    '<start_of_turn>model',
    '<end_of_turn>',
    '[e~[',
    ']~b]ai',
    '<|chatbot_token|>',
  ],
  ...['<｜begin▁of▁sentence｜>', '<｜end▁of▁sentence｜>', '<｜assistant｜>', '<｜user｜>'],
]

/** Control tokens that may also be markup of a document. */
export const wordControls = ['<s>', '</s>', '<bos>', '<eos>', '<pad>', '<unk>', '[/inst]', '[eos]']
