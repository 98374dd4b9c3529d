#!/bin/sh
# pycocoevalcap 1.2's tokenizer (Stanford CoreNLP 3.4.1) writes all captions of a set into one file, a line each, and reads
# the words back by line. It replaces line feeds within a caption and nothing else: a carriage return, a form feed or a
# Unicode line separator (U+2028) within one caption ends its line. The rest of it becomes the next picture's caption, every
# later caption stands under the picture before... one further on, and the last is lost, without a word.
#
# Seen: three pictures, the first caption "a dog<CR>in a park": ['a dog'], ['in a park'], ['a cat'] and no 'a bird', and
# CIDEr 0.0 for the second and third pictures, whose captions equal their references.
#
# Exit code 0 while that is so.
